"""Callbacks of filters, strip, and scores, and the first paint of the page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from poor_bench.dashboard.components.badges import rerun_link, score_badge, settings_badges
from poor_bench.dashboard.components.blocks import card, page_head
from poor_bench.dashboard.components.controls import build_options, llm_options, test_options
from poor_bench.dashboard.components.tables import number, row, sheet, still
from poor_bench.dashboard.figures.scores import score_bars_figure
from poor_bench.dashboard.page import bind_script, on_click, on_data
from poor_bench.dashboard.pages.model.layout import CLEARED, CONTROLS, ModelIds
from poor_bench.dashboard.pages.model.results import (
    count_note,
    page_of_rows,
    register_details,
    register_results,
)
from poor_bench.dashboard.pages.model.url import ModelUrl
from poor_bench.dashboard.pages.model.view import (
    build_breakdown,
    issue_strip,
    model_tiles,
    no_match,
    no_results_at_all,
    notes_before_reading,
    tell_no_results,
)
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.text.formatting import error_text, setting_text, size_text
from poor_bench.dashboard.theme import graph_config
from poor_bench.dashboard.url_state import Redo, run_link
from poor_bench.errors import PoorBenchError
from poor_bench.issues.detect import group_issues
from poor_bench.metrics.trust import list_trust_notes
from poor_bench.models.failure import FailureKind
from poor_bench.results.query import ResultQuery, scores_of_tests, think_to_text
from poor_bench.statistics.summary import GroupBy, Summary

Options = list[dict[str, str]]


def start(services: Services, url: ModelUrl) -> ModelUrl:
    """Choose the best model where the address names none, or one that does not exist."""
    try:
        if url.llm_id:
            return url.change(llm_id=services.llms.id_named(url.llm_id), unknown="")
        return url.change(llm_id=find_best(services), unknown="")
    except PoorBenchError as error:
        return _start_otherwise(services, url, error)


def _start_otherwise(services: Services, url: ModelUrl, error: PoorBenchError) -> ModelUrl:
    if services.problem() is not None:  # the shell tells what is wrong with the files
        return url.change(unknown="")
    return url.change(llm_id=find_best(services), unknown=error_text(error), test="")


def find_best(services: Services) -> str:
    """Find the best of the models that have a rank, else the first one; empty without results."""
    ranking = services.results.ranking()
    best = next(filter(ranking.is_comparable, ranking.llm_ids), "")
    stored = services.results.read_stored().llm_ids
    return best or next(iter((*ranking.llm_ids, *stored)), "")


def filter_options(services: Services, llm_id: str) -> tuple[Options, Options, Options, Options]:
    """List the classes, levels, causes and think parameters that can be chosen."""
    workspace, table = services.files.workspace(), services.results.read_stored()
    thinks = sorted({think_to_text(value) for value in table.values["think"]})
    causes = services.trials.causes(llm_id)
    return (
        *test_options(workspace),
        build_options((cause, cause.replace("_", " ")) for cause in causes),
        build_options((think, f"Think: {think}") for think in thinks),
    )


def _register_filters(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(ModelIds.LLM, "data"),
        Output(ModelIds.CLASSES, "data"),
        Output(ModelIds.LEVELS, "data"),
        Output(ModelIds.CAUSES, "data"),
        Output(ModelIds.THINKS, "data"),
        Input(ModelIds.LLM, "value"),
    )
    def _show_options(chosen: str | None) -> Any:
        stored = services.results.read_stored().llm_ids
        llms = llm_options(stored, filter(None, [chosen]), services.llms.name)
        return llms, *filter_options(services, chosen or "")

    @on_click(
        app,
        ModelIds.CLEAR,
        *(Output(control, "value") for control in CONTROLS[1:]),
        Output(ModelIds.ISSUE, "data"),
    )
    def _clear() -> Any:
        return *CLEARED, ""


def _register_query(app: Dash) -> None:
    bind = partial(bind_script, app, "model")
    bind(
        "collect",
        Output(ModelIds.QUERY, "data"),
        *(Input(control, "value") for control in CONTROLS),
        Input(ModelIds.ISSUE, "data"),
        prevent_initial_call=True,
    )
    bind(
        "settle",
        Output(ModelIds.SETTLED, "data"),
        Output(ModelIds.FOLLOW, "data"),
        Input(ModelIds.RESULTS, "getRowsResponse"),
        Input(ModelIds.SORT, "data"),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SETTLED, "data"),
        State(ModelIds.SELECTED, "data"),
        State(ModelIds.FOLLOW, "data"),
        prevent_initial_call=True,
    )
    bind(
        "show",
        Output(ModelIds.QUERY, "id"),
        Input(ModelIds.QUERY, "data"),
        Input(ModelIds.ORDER, "data"),
        Input(ModelIds.SELECTED, "data"),
    )
    bind("count_more", Output(ModelIds.MORE, "children"), Input(ModelIds.QUERY, "data"))
    bind(
        "drill",
        Output(ModelIds.CLASSES, "value", allow_duplicate=True),
        Output(ModelIds.LEVELS, "value", allow_duplicate=True),
        Input(ModelIds.DRILL, "data"),
        prevent_initial_call=True,
    )


MOST_BARS = 100
BAR_PX = 13
"""Least width of a bar and its label."""


def note(services: Services, llm_id: str) -> str:
    """Write one line about the model."""
    llm = services.llms.get(llm_id)
    if llm is None:
        return llm_id
    parts = [llm.id, llm.endpoint or "", f"{size_text(llm.size)} parameters" if llm.size else ""]
    parts += [setting_text(*each)[:48] for each in llm.parameters.items()]
    return " · ".join(part for part in parts if part)


def tiles(services: Services, search: str) -> Component | None:
    """Build the figures of the results that the filters find; None without any."""
    query = ModelUrl.read(search).query
    llm_id = query.llm_id
    repeated = None if query.is_filtered else services.results.reliability(llm_id)
    found = services.trials.summaries(query, GroupBy.LLM)
    if not found:
        return None
    scope = "Filtered" if query.is_filtered else "All results"
    rerun = _rerun_found(services, query, found[0]) if query.is_filtered else rerun_link(found[0])
    return model_tiles(found[0], services.llms.get(llm_id), repeated, scope=scope, rerun=rerun)


def _rerun_found(services: Services, query: ResultQuery, summary: Summary) -> str:
    """Write the address of the page Run for the failed and stale results that a query finds."""
    if services.llms.get(query.llm_id) is None or not list_trust_notes(summary):
        return ""
    parts = ResultQuery(llm_id=query.llm_id, classes=query.classes, levels=query.levels)
    has_more = replace(query, sort=parts.sort, descending=False) != parts
    return run_link(
        llm_ids=[query.llm_id],
        classes=sorted(query.classes),
        levels=sorted(query.levels),
        tests=services.trials.find(query).test_ids() if has_more else (),
        trials=summary.last_trial,
        redo=Redo.AGAIN,
    )


def state(services: Services, llm_id: str) -> tuple[Component | list[Component], bool]:
    """Say what to know before reading, and if there is nothing to read."""
    stored = services.results.read_stored()
    if not stored.llm_ids:
        return no_results_at_all(), True
    llm = services.llms.get(llm_id)
    if not len(stored.find_rows(llm_id)):
        return tell_no_results(services.llms.name(llm_id), llm, llm_id), True
    summary = next(iter(services.results.summaries(GroupBy.LLM, [llm_id])), None)
    return notes_before_reading(llm_id, llm, summary, _failure(services, llm_id, summary)), False


def _failure(services: Services, llm_id: str, summary: Summary | None) -> str:
    """Read why the first trial failed, where none has a score."""
    if summary is None or summary.n_scored:
        return ""
    groups = (group for group in services.results.failures() if group.llm_id == llm_id)
    return next((group.message for group in groups if group.kind is not FailureKind.JUDGE), "")


def scores(services: Services, search: str, order: str | None) -> tuple[Any, str]:
    """Draw the tests that the filters find as bars, or their classes and levels; and say how."""
    url = ModelUrl.read(search)
    found = services.trials.find(url.query)
    workspace = services.files.workspace()
    bars, n_tests = scores_of_tests(found, workspace.tests_by_id, 0, MOST_BARS)
    if not bars:
        return still(no_match()), ""
    if n_tests > MOST_BARS:
        chosen = ModelUrl.read(order)
        url = url.change(by=chosen.by, at=chosen.at)
        return still(summarise_classes(services, url)), (f"By class, {n_tests:,} tests")
    graph = dcc.Graph(
        id=ModelIds.CHART_GRAPH,
        figure=score_bars_figure(bars, list(workspace.test_classes)),
        config=graph_config(),
        className="chart",
        style={"minWidth": f"{len(bars) * BAR_PX}px"},
    )
    return graph, "By test"


def summarise_classes(services: Services, url: ModelUrl) -> Component:
    """Sum up the results that the filters find by class and level."""
    summarise = partial(services.trials.summaries, url.query)
    return build_breakdown(summarise(GroupBy.LLM_CLASS), summarise(GroupBy.LLM_CLASS_LEVEL), url)


def issues(services: Services, search: str) -> tuple[Component, bool]:
    """List the issues of the results that the filters find, and say if the list is complete."""
    query = ModelUrl.read(search).query
    answer = services.issues.all_of_llm(query.llm_id)
    listed = answer.value
    if listed is None:
        return issue_strip([], query.issue), False
    others = replace(query, issue="")  # issues are to be exchanged for one another
    if others.is_filtered:
        keys = services.trials.find(others).keys()
        listed = listed.among(keys)
    groups = group_issues(listed, detectors=services.files.config().detectors)
    return issue_strip(groups, query.issue), answer.is_current


def issue_chip(detector_id: str) -> Component | None:
    """Build the mark of the issue that the results are limited to."""
    if not detector_id:
        return None
    return html.Span(f"issue: {detector_id.replace('_', ' ')}", className="issue-mark")


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_filters(app, services)
    _register_query(app)
    _register_model(app, services)
    _register_parts(app, services)
    register_results(app, services)
    register_details(app, services)


def _register_model(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(ModelIds.NOTE, "children"),
        Output(ModelIds.STATE, "children"),
        Output(ModelIds.BODY, "hidden"),
        Output(ModelIds.BELOW, "hidden"),
        Input(ModelIds.LLM, "value"),
    )
    def _show_model(llm_id: str | None) -> Any:
        said, is_empty = state(services, llm_id or "")
        notes = settings_badges(services.llms.settings_notes().get(llm_id or "", ()))
        return [note(services, llm_id or ""), notes], still(said), is_empty, is_empty

    @on_data(
        app,
        Output(ModelIds.TILES, "children"),
        Input(ModelIds.SETTLED, "data"),
        prevent_initial_call=True,
    )
    def _show_tiles(search: str | None) -> Any:
        return no_update if search is None else still(tiles(services, search))


def _register_parts(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(ModelIds.CHART, "children"),
        Output(ModelIds.CHART_NOTE, "children"),
        Input(ModelIds.SETTLED, "data"),
        Input(ModelIds.ORDER, "data"),
        prevent_initial_call=True,
    )
    def _show_scores(search: str | None, order: str | None) -> Any:
        return (no_update,) * 2 if search is None else scores(services, search, order)

    @on_data(
        app,
        Output(ModelIds.ISSUES, "children"),
        Output(ModelIds.ISSUE_CHIP, "children"),
        Output(ModelIds.WAIT, "disabled"),
        Input(ModelIds.SETTLED, "data"),
        Input(ModelIds.WAIT, "n_intervals"),
        prevent_initial_call=True,
    )
    def _show_issues(search: str | None, _waited: int | None) -> Any:
        if search is None:
            return (no_update,) * 3
        found, is_all = issues(services, search)
        return still(found), still(issue_chip(ModelUrl.read(search).query.issue)), is_all


_SKETCHED = {"startRow": 0, "endRow": 20}
"""Rows that a window shows at first."""


def sketch(services: Services, url: ModelUrl) -> Component | None:
    """Build head, figures and first results; None without results, or for an unknown model."""
    search = url.filters.search
    shown = tiles(services, search) if url.llm_id and not url.unknown else None
    if shown is None:
        return None
    found = page_of_rows(services, search, {**_SKETCHED, "sortModel": url.sort_model})
    table = sheet(_SKETCHED_COLUMNS, map(_sketch_row, found["rowData"]))
    frames = [html.Div(shown, className="tiles-frame"), html.Div(className="issues-frame")]
    screen = [
        html.Div(frames, className="model-strip"),
        html.Span(className="filters first-paint-controls"),
        card("Results", table, note=count_note(services, search), class_name="results-card"),
    ]
    head = page_head("Model", note(services, url.llm_id))
    body = html.Div(screen, className="results-and-details")
    return html.Div(html.Div([head, body], className="first-screen"), className="model-page")


_SKETCHED_COLUMNS = (
    "Test ID", "Score", "Test Category", html.Th("Execution Time", className="number"),
)  # fmt: skip


def _sketch_row(result: dict[str, Any]) -> Component:
    """Build what the table shows of a result that `page_of_rows` found."""
    seconds = result["execution_time"]
    return row(
        result["test_id"],
        score_badge(result["score"]),
        result["test_category"],
        number("n/a" if seconds is None else f"{seconds:,.2f} s"),
    )

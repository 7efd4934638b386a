"""Callbacks of filters, tiles, chart and issues."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from poor_bench.dashboard.components.badges import issue_list, settings_badges
from poor_bench.dashboard.components.blocks import empty_state, no_results
from poor_bench.dashboard.components.controls import build_options, llm_options, test_options
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.figures.score_bars import score_bars_figure
from poor_bench.dashboard.page import bind_script, on_click, on_data
from poor_bench.dashboard.pages.model.details import register_details
from poor_bench.dashboard.pages.model.layout import ModelIds, ModelUrl
from poor_bench.dashboard.pages.model.results import register_results
from poor_bench.dashboard.pages.model.tiles import model_tiles
from poor_bench.dashboard.text.formatting import setting_text, size_text
from poor_bench.dashboard.theme import graph_config
from poor_bench.errors import PoorBenchError
from poor_bench.issues.detect import group_issues
from poor_bench.results.query import scores_of_tests, think_to_text
from poor_bench.statistics.summary import GroupBy

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services


Options = list[dict[str, str]]


def start(services: Services, url: ModelUrl) -> ModelUrl:
    """Choose the first LLM that has results where the address names none."""
    if url.llm_id:
        return url
    try:
        return url.change(llm_id=next(iter(services.results.read_stored().llm_ids), ""))
    except PoorBenchError:
        return url


def filter_options(services: Services) -> tuple[Options, Options, Options]:
    """Return the classes, levels and think parameters that can be chosen."""
    workspace, table = services.files.workspace(), services.results.read_stored()
    thinks = sorted({think_to_text(value) for value in table.values["think"]})
    return *test_options(workspace), build_options((think, f"Think: {think}") for think in thinks)


def _register_choice(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_filters(app, services)
    _register_query(app)


def _register_filters(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(ModelIds.LLM, "data"),
        Output(ModelIds.CLASSES, "data"),
        Output(ModelIds.LEVELS, "data"),
        Output(ModelIds.THINKS, "data"),
        State(ModelIds.LLM, "value"),
    )
    def _show_options(chosen: str | None) -> Any:
        llms = llm_options(
            services.results.read_stored().llm_ids, filter(None, [chosen]), services.llms.name
        )
        return llms, *filter_options(services)

    @on_data(app, Output(ModelIds.EMPTY, "children"), Output(ModelIds.BODY, "hidden"))
    def _show_empty() -> Any:
        is_empty = not services.results.read_stored().llm_ids
        return no_results(
            "Run the tests to read every result here."
        ) if is_empty else None, is_empty

    @on_click(
        app,
        ModelIds.CLEAR,
        Output(ModelIds.CLASSES, "value"),
        Output(ModelIds.LEVELS, "value"),
        Output(ModelIds.THINKS, "value"),
        Output(ModelIds.OUTCOME, "value"),
        Output(ModelIds.TEXT, "value"),
        Output(ModelIds.RATING, "value"),
        Output(ModelIds.ISSUE, "data"),
    )
    def _clear() -> Any:
        return [], [], [], "", "", None, ""


def _register_query(app: Dash) -> None:
    bind = partial(bind_script, app, "model")
    fields = (
        ModelIds.LLM,
        ModelIds.CLASSES,
        ModelIds.LEVELS,
        ModelIds.THINKS,
        ModelIds.OUTCOME,
        ModelIds.TEXT,
        ModelIds.RATING,
    )
    bind(
        "collect",
        Output(ModelIds.QUERY, "data"),
        *(Input(field, "value") for field in fields),
        Input(ModelIds.ISSUE, "data"),
        prevent_initial_call=True,
    )
    bind(
        "settle",
        Output(ModelIds.SETTLED, "data"),
        Input(ModelIds.RESULTS, "getRowsResponse"),
        State(ModelIds.QUERY, "data"),
        State(ModelIds.SETTLED, "data"),
        prevent_initial_call=True,
    )
    bind(
        "show",
        Output(ModelIds.QUERY, "id"),
        Input(ModelIds.QUERY, "data"),
        Input(ModelIds.SELECTED, "data"),
    )


BARS_AT_ONCE = 120


def note(services: Services, llm_id: str) -> str:
    """Return one line about the model."""
    llm = services.llms.get(llm_id)
    if llm is None:
        return "Removed from llms.json. Its results are still stored."
    parts = [llm.id, llm.endpoint or "", f"{size_text(llm.size)} parameters" if llm.size else ""]
    parts += [setting_text(*each)[:48] for each in llm.parameters.items()]
    return " · ".join(part for part in parts if part)


def tiles(services: Services, llm_id: str) -> Component | None:
    """Return the figures of the model."""
    summaries = services.results.summaries(GroupBy.LLM, [llm_id])
    if not summaries:
        return None
    return model_tiles(
        summaries[0], services.llms.get(llm_id), services.results.reliability(llm_id)
    )


def chart(services: Services, search: str, page: int) -> tuple[Component, int]:
    """Return the bars of the tests that the filters find, and how many pages of them there are."""
    found = services.trials.find(ModelUrl.read(search).query)
    workspace = services.files.workspace()
    start = (page - 1) * BARS_AT_ONCE
    scores, n_tests = scores_of_tests(found, workspace.tests_by_id, start, BARS_AT_ONCE)
    if not scores:
        return empty_state(
            "No results", "No result matches these filters. Remove a filter to see more."
        ), 1
    graph = dcc.Graph(
        id=ModelIds.CHART_GRAPH,
        figure=score_bars_figure(scores, list(workspace.test_classes)),
        config=graph_config(),
        className="chart",
    )
    return graph, -(-n_tests // BARS_AT_ONCE)


def issues(services: Services, search: str) -> tuple[Component, bool]:
    """List the issues of the model, and say if the list is complete."""
    query = ModelUrl.read(search).query
    answer = services.issues.all_of_llm(query.llm_id)
    groups = group_issues(answer.value or (), detectors=services.files.config().detectors)
    return issue_list(groups, ModelIds.ISSUE, query.issue), answer.is_current


def issue_chip(detector_id: str) -> Component | None:
    """Return the mark of the issue that the results are limited to."""
    if not detector_id:
        return None
    return html.Span(f"issue: {detector_id.replace('_', ' ')}", className="issue-mark")


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_choice(app, services)
    _register_parts(app, services)
    register_results(app, services)
    register_details(app, services)


def _register_parts(app: Dash, services: Services) -> None:
    @on_data(
        app,
        Output(ModelIds.NOTE, "children"),
        Output(ModelIds.TILES, "children"),
        Input(ModelIds.LLM, "value"),
    )
    def _show_model(llm_id: str | None) -> Any:
        if not llm_id:
            return no_update, no_update
        notes = settings_badges(services.llms.settings_notes().get(llm_id, ()))
        return [note(services, llm_id), notes], tiles(services, llm_id)

    @on_data(
        app,
        Output(ModelIds.CHART, "children"),
        Output(ModelIds.CHART_PAGE, "total"),
        Output(ModelIds.CHART_PAGE, "display"),
        Input(ModelIds.SETTLED, "data"),
        Input(ModelIds.CHART_PAGE, "value"),
    )
    def _show_chart(search: str | None, page: int) -> Any:
        if search is None:
            return (no_update,) * 3
        drawn, n_pages = chart(
            services, search, page if ctx.triggered_id != ModelIds.SETTLED else 1
        )
        return drawn, n_pages, "flex" if n_pages > 1 else "none"

    @on_data(
        app,
        Output(ModelIds.ISSUES, "children"),
        Output(ModelIds.ISSUE_CHIP, "children"),
        Output(ModelIds.WAIT, "disabled"),
        Input(ModelIds.SETTLED, "data"),
        Input(ModelIds.WAIT, "n_intervals"),
    )
    def _show_issues(search: str | None, _waited: int | None) -> Any:
        if search is None:
            return (no_update,) * 3
        found, is_all = issues(services, search)
        return still(found), still(issue_chip(ModelUrl.read(search).query.issue)), is_all

"""Handlers of filters, figures and chart: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, ctx, dcc, no_update

from poor_bench.dashboard.components.issue_list import issue_list
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.figures.score_bars import score_bars_figure
from poor_bench.dashboard.figures.style import graph_config
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.model import details_callbacks, results_callbacks
from poor_bench.dashboard.pages.model.ids import ISSUE_ROW, issue_row_id
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.pages.model.query import query_of, search_of
from poor_bench.dashboard.pages.model.tiles import model_tiles
from poor_bench.dashboard.scripts import bind_script
from poor_bench.dashboard.services.result_query import think_to_text
from poor_bench.dashboard.services.test_scores import scores_of_tests
from poor_bench.issues.grouping import group_issues
from poor_bench.statistics.summary import GroupBy

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

BARS_AT_ONCE = 120
Options = list[dict[str, str]]


def llm_options(services: Services) -> Options:
    """Return the LLMs that have results, best known name first in each."""
    return [{"value": name, "label": services.name(name)} for name in services.table().llm_ids]


def default_llm(services: Services, chosen: str | None) -> str | None:
    """Return the chosen LLM, or the first that has results."""
    return chosen or next(iter(services.table().llm_ids), None)


def no_results() -> Component:
    """Return what stands on the page before the first run."""
    return empty_state(
        "No results yet",
        "Run the tests once, and every result can be read here.",
        dcc.Link("Choose what to run", href="/run", className="button-link"),
    )


def filter_options(services: Services) -> tuple[Options, Options, Options]:
    """Return the classes, levels and think parameters that can be chosen."""
    workspace, table = services.workspace(), services.table()
    levels = sorted({test.level for test in workspace.tests})
    thinks = sorted({think_to_text(value) for value in table.values["think"]})
    return (
        [{"value": name, "label": name.replace("_", " ")} for name in workspace.test_classes],
        [{"value": str(level), "label": f"Level {level}"} for level in levels],
        [{"value": think, "label": f"Think: {think}"} for think in thinks],
    )


def note(services: Services, search: str) -> str:
    """Return one line about the model."""
    llm = services.llm(query_of(search).llm_id)
    if llm is None:
        return "Not in llms.json any more; its results are kept."
    parts = [llm.id, llm.endpoint or "", f"{llm.size:g} B parameters" if llm.size else ""]
    parts += [f"{name} {value}" for name, value in llm.parameters.items()]
    return " · ".join(part for part in parts if part)


def tiles(services: Services, search: str) -> Component | None:
    """Return the figures of the model."""
    llm_id = query_of(search).llm_id
    summaries = services.summaries(GroupBy.LLM, [llm_id])
    return model_tiles(summaries[0], services.llm(llm_id)) if summaries else None


def chart(services: Services, search: str, page: int) -> tuple[Component, int]:
    """Return the bars of the tests that the filters find, and how many pages of them there are."""
    found = services.find(query_of(search))
    workspace = services.workspace()
    start = (page - 1) * BARS_AT_ONCE
    scores, n_tests = scores_of_tests(found, workspace.tests_by_id, start, BARS_AT_ONCE)
    if not scores:
        return empty_state("Nothing to draw", "No result matches these filters."), 1
    graph = dcc.Graph(
        id=Ids.CHART_GRAPH,
        figure=score_bars_figure(scores, list(workspace.test_classes)),
        config=graph_config("poor_bench-scores"),
        className="chart",
    )
    return graph, -(-n_tests // BARS_AT_ONCE)


def issues(services: Services, search: str) -> Component:
    """Return what goes wrong with the model."""
    query = query_of(search)
    return issue_list(group_issues(services.issues(query.llm_id)), issue_row_id, query.issue)


def issue_chip(detector_id: str) -> Component | None:
    """Return the mark of the issue that the results are limited to."""
    if not detector_id:
        return None
    chip: Component = dmc.Badge(
        f"issue: {detector_id.replace('_', ' ')}", variant="light", color="orange", tt="none"
    )
    return chip


def toggled_issue(chosen: str, clicked: str) -> str:
    """Return the issue to limit the results to: choosing it again lifts the limit."""
    return "" if clicked == chosen else clicked


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    _register_filters(app, services)
    _register_query(app)
    _register_parts(app, services)
    results_callbacks.register(app, services)
    details_callbacks.register(app, services)


def _register_filters(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.LLM, "data"),
        Output(Ids.LLM, "value"),
        Output(Ids.CLASSES, "data"),
        Output(Ids.LEVELS, "data"),
        Output(Ids.THINKS, "data"),
        Input(ShellIds.VERSION, "data"),
        State(Ids.LLM, "value"),
    )
    def _show_options(version: str | None, chosen: str | None) -> Any:
        if version is None:
            return (no_update,) * 5
        return llm_options(services), default_llm(services, chosen), *filter_options(services)

    @app.callback(
        Output(Ids.EMPTY, "children"),
        Output(Ids.BODY, "hidden"),
        Input(ShellIds.VERSION, "data"),
    )
    def _show_empty(version: str | None) -> Any:
        is_empty = version is not None and not services.table().llm_ids
        return no_results() if is_empty else None, is_empty

    @app.callback(
        Output(Ids.CLASSES, "value"),
        Output(Ids.LEVELS, "value"),
        Output(Ids.THINKS, "value"),
        Output(Ids.OUTCOME, "value"),
        Output(Ids.TEXT, "value"),
        Input(Ids.CLEAR, "n_clicks"),
        prevent_initial_call=True,
    )
    def _clear(_clicks: int) -> Any:
        return [], [], [], "", ""

    @app.callback(
        Output(Ids.ISSUE, "data"),
        Input({"type": ISSUE_ROW, "index": ALL}, "n_clicks"),
        Input(Ids.CLEAR, "n_clicks"),
        State(Ids.ISSUE, "data"),
        prevent_initial_call=True,
    )
    def _choose_issue(clicks: list[int], _cleared: int, chosen: str) -> Any:
        if ctx.triggered_id == Ids.CLEAR:
            return ""
        return toggled_issue(chosen, ctx.triggered_id["index"]) if any(clicks) else no_update


def _register_query(app: Dash) -> None:
    @app.callback(
        Output(Ids.QUERY, "data"),
        Input(Ids.LLM, "value"),
        Input(Ids.CLASSES, "value"),
        Input(Ids.LEVELS, "value"),
        Input(Ids.THINKS, "value"),
        Input(Ids.OUTCOME, "value"),
        Input(Ids.TEXT, "value"),
        Input(Ids.ISSUE, "data"),
    )
    def _collect(llm_id: str | None, *filters: Any) -> Any:
        return search_of(llm_id, *filters) if llm_id else no_update

    bind_script(
        app,
        "address",
        "show",
        Output(Ids.QUERY, "id"),
        Input(Ids.QUERY, "data"),
    )


def _register_parts(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.NOTE, "children"),
        Output(Ids.TILES, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
    )
    def _show_model(version: str | None, search: str | None) -> Any:
        if version is None or search is None:
            return no_update, no_update
        return note(services, search), tiles(services, search)

    @app.callback(
        Output(Ids.CHART, "children"),
        Output(Ids.CHART_PAGE, "total"),
        Output(Ids.CHART_PAGE, "display"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
        Input(Ids.CHART_PAGE, "value"),
    )
    def _show_chart(version: str | None, search: str | None, page: int) -> Any:
        if version is None or search is None:
            return (no_update,) * 3
        drawn, n_pages = chart(services, search, page if ctx.triggered_id != Ids.QUERY else 1)
        return drawn, n_pages, "flex" if n_pages > 1 else "none"

    @app.callback(
        Output(Ids.ISSUES, "children"),
        Output(Ids.ISSUE_CHIP, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.QUERY, "data"),
    )
    def _show_issues(version: str | None, search: str | None) -> Any:
        if version is None or search is None:
            return no_update, no_update
        return issues(services, search), issue_chip(query_of(search).issue)

"""Handlers of filters, figures and chart: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, ctx, dcc, html, no_update

from poor_bench.dashboard.components.issue_list import issue_list
from poor_bench.dashboard.components.states import empty_state
from poor_bench.dashboard.components.still import still
from poor_bench.dashboard.figures.score_bars import score_bars_figure
from poor_bench.dashboard.figures.style import graph_config
from poor_bench.dashboard.ids import ShellIds
from poor_bench.dashboard.pages.model import details_callbacks, filter_callbacks, results_callbacks
from poor_bench.dashboard.pages.model.ids import ModelIds as Ids
from poor_bench.dashboard.pages.model.query import query_of
from poor_bench.dashboard.pages.model.tiles import model_tiles
from poor_bench.dashboard.services.test_scores import scores_of_tests
from poor_bench.dashboard.text.figures_text import setting_text, size_text
from poor_bench.issues.detect import group_issues
from poor_bench.statistics.summary import GroupBy

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services

BARS_AT_ONCE = 120


def note(services: Services, llm_id: str) -> str:
    """Return one line about the model."""
    llm = services.llm(llm_id)
    if llm is None:
        return "Removed from llms.json. Its results are still stored."
    parts = [llm.id, llm.endpoint or "", f"{size_text(llm.size)} parameters" if llm.size else ""]
    parts += [setting_text(*each)[:48] for each in llm.parameters.items()]
    return " · ".join(part for part in parts if part)


def tiles(services: Services, llm_id: str) -> Component | None:
    """Return the figures of the model."""
    summaries = services.summaries(GroupBy.LLM, [llm_id])
    if not summaries:
        return None
    return model_tiles(summaries[0], services.llm(llm_id), services.reliability(llm_id))


def chart(services: Services, search: str, page: int) -> tuple[Component, int]:
    """Return the bars of the tests that the filters find, and how many pages of them there are."""
    found = services.find(query_of(search))
    workspace = services.workspace()
    start = (page - 1) * BARS_AT_ONCE
    scores, n_tests = scores_of_tests(found, workspace.tests_by_id, start, BARS_AT_ONCE)
    if not scores:
        return empty_state(
            "No results", "No result matches these filters. Remove a filter to see more."
        ), 1
    graph = dcc.Graph(
        id=Ids.CHART_GRAPH,
        figure=score_bars_figure(scores, list(workspace.test_classes)),
        config=graph_config(),
        className="chart",
    )
    return graph, -(-n_tests // BARS_AT_ONCE)


def issues(services: Services, search: str) -> tuple[Component, bool]:
    """Return what goes wrong with the model, and whether that is all."""
    query = query_of(search)
    answer = services.all_issues(query.llm_id)
    groups = group_issues(answer.value or (), detectors=services.detectors())
    return issue_list(groups, Ids.ISSUE, query.issue), answer.is_current


def issue_chip(detector_id: str) -> Component | None:
    """Return the mark of the issue that the results are limited to."""
    if not detector_id:
        return None
    return html.Span(f"issue: {detector_id.replace('_', ' ')}", className="issue-mark")


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""
    filter_callbacks.register(app, services)
    _register_parts(app, services)
    results_callbacks.register(app, services)
    details_callbacks.register(app, services)


def _register_parts(app: Dash, services: Services) -> None:
    @app.callback(
        Output(Ids.NOTE, "children"),
        Output(Ids.TILES, "children"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.LLM, "value"),
    )
    def _show_model(version: str | None, llm_id: str | None) -> Any:
        if version is None or not llm_id:
            return no_update, no_update
        return note(services, llm_id), tiles(services, llm_id)

    @app.callback(
        Output(Ids.CHART, "children"),
        Output(Ids.CHART_PAGE, "total"),
        Output(Ids.CHART_PAGE, "display"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.SETTLED, "data"),
        Input(Ids.CHART_PAGE, "value"),
    )
    def _show_chart(version: str | None, search: str | None, page: int) -> Any:
        if version is None or search is None:
            return (no_update,) * 3
        drawn, n_pages = chart(services, search, page if ctx.triggered_id != Ids.SETTLED else 1)
        return drawn, n_pages, "flex" if n_pages > 1 else "none"

    @app.callback(
        Output(Ids.ISSUES, "children"),
        Output(Ids.ISSUE_CHIP, "children"),
        Output(Ids.WAIT, "disabled"),
        Input(ShellIds.VERSION, "data"),
        Input(Ids.SETTLED, "data"),
        Input(Ids.WAIT, "n_intervals"),
    )
    def _show_issues(version: str | None, search: str | None, _waited: int | None) -> Any:
        if version is None or search is None:
            return (no_update,) * 3
        found, is_all = issues(services, search)
        return still(found), still(issue_chip(query_of(search).issue)), is_all

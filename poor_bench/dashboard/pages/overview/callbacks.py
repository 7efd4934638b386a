"""Handlers of the page: ask the services, call the layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import Dash, Input, Output, State, no_update

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import no_results
from poor_bench.dashboard.components.grids import shown_columns, sort_rows
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.figures.frontier import FrontierPoint
from poor_bench.dashboard.page import bind_address, bind_controls, on_data
from poor_bench.dashboard.pages.overview import layout
from poor_bench.dashboard.pages.overview.layout import OverviewIds as Ids
from poor_bench.dashboard.pages.overview.layout import OverviewUrl, changes_card
from poor_bench.dashboard.pages.overview.tables import (
    CELL_COUNTS,
    INTERVAL,
    build_floor_rows,
    build_rows,
    columns_for,
    file_heading,
    heat_map,
)
from poor_bench.dashboard.table_files import TableFile, bind_files, table_file
from poor_bench.dashboard.url_state import GridUrl
from poor_bench.messages import disabled_tests_text, removed_tests_text, write_count
from poor_bench.statistics.groups import number_groups
from poor_bench.statistics.intervals import write_basis
from poor_bench.statistics.summary import GroupBy
from poor_bench.statistics.trials import find_newer_failures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.services.services import Services
    from poor_bench.models.test import Test


def _count_tests(tests: Sequence[Test]) -> str:
    """Write how many tests there are, and in how many groups if some share one."""
    n_groups = max(number_groups(len(tests), [test.group for test in tests]), default=-1) + 1
    return write_basis(len(tests), n_groups if n_groups < len(tests) else None)


def note(services: Services) -> str:
    """Return one line about what there is."""
    table, workspace = services.results.table(), services.files.workspace()
    n_trials = len(table) - int(find_newer_failures(table).sum())
    parts = [
        write_count(n_trials, "trial"),
        write_count(len(table.llm_ids), "model"),
        _count_tests(workspace.enabled_tests),
        write_count(len(workspace.test_classes), "test class"),
    ]
    n_removed = services.results.n_removed()
    if n_removed:
        parts.append(removed_tests_text(n_removed))
    n_disabled = len(workspace.tests) - len(workspace.enabled_tests)
    if n_disabled:
        parts.append(disabled_tests_text(n_disabled))
    newest = table.latest
    return " · ".join(
        [*parts, f"last result {newest[:16].replace('T', ' ')} UTC"] if newest else parts
    )


def leaderboard(services: Services, view: str | None = "") -> Component:
    """Return the model comparison table, with the view that the address keeps."""
    rows = leaderboard_rows(services)
    floor = build_floor_rows(services.tests.floor())
    return layout.leaderboard(columns_for(rows), rows, floor, GridUrl.read(view))


def leaderboard_rows(services: Services) -> list[dict[str, Any]]:
    """Return the rows of the model comparison, best score first."""
    return build_rows(
        services.results.summaries(GroupBy.LLM),
        services.files.workspace().llms_by_id,
        services.llms.name,
        services.results.ranking(),
    )


def scores_by_class(services: Services, detail: str) -> Component:
    """Return the heat map; `detail` is "levels" for a column per class and level."""
    by = GroupBy.LLM_CLASS_LEVEL if detail else GroupBy.LLM_CLASS
    llm_ids = [row["id"] for row in leaderboard_rows(services)]
    return heat_map(services.results.summaries(by), llm_ids, services.llms.name)


def charts(services: Services) -> list[Component]:
    """Return score against size and time; models that are not comparable are left out."""
    coverage = services.results.ranking().coverage
    by_size: list[FrontierPoint] = []
    by_time: list[FrontierPoint] = []
    for summary in services.results.summaries(GroupBy.LLM):
        llm_id = summary.group.llm_id
        if summary.score is None or not coverage[llm_id].is_comparable:
            continue
        llm = services.llms.get(llm_id)
        median_s = summary.time.median_ms / 1000 if summary.time else None
        for points, x in ((by_size, llm.size if llm else None), (by_time, median_s)):
            if x:
                name = services.llms.name(llm_id)
                points.append(FrontierPoint(llm_id=llm_id, name=name, x=x, score=summary.score))
    n_apart = sum(not each.is_comparable for each in coverage.values())
    return layout.charts(by_size, by_time, n_apart)


def changes(services: Services) -> Component | None:
    """Show the changes of the last run; nothing without an earlier run."""
    last_run = services.last_run.changes()
    return None if last_run is None else changes_card(last_run, services.llms.name)


def leaderboard_csv(services: Services, view: str | None = "") -> TableFile:
    """Return the model comparison as a file: the shown columns, and the intervals of the scores."""
    rows, url = leaderboard_rows(services), GridUrl.read(view)
    defined = columns_for(rows)
    shown = [
        (field, file_heading(field, heading)) for field, heading in shown_columns(defined, url)
    ]
    columns = [("id", "Model ID"), *shown, *INTERVAL]
    return table_file("models", sort_rows(rows, defined, url), columns)


def heat_map_csv(services: Services, detail: str) -> TableFile:
    """Return the scores by class as a file."""
    by = GroupBy.LLM_CLASS_LEVEL if detail else GroupBy.LLM_CLASS
    rows = [
        {
            "id": summary.group.llm_id,
            "model": services.llms.name(summary.group.llm_id),
            "class": summary.group.class_id,
            "level": summary.group.level,
            "score": summary.score.value if summary.score else None,
            "low": summary.score.low if summary.score else None,
            "high": summary.score.high if summary.score else None,
            **{metric.name: metric.value(summary) for metric in CELL_COUNTS},
        }
        for summary in services.results.summaries(by)
    ]
    counts = [(metric.name, metric.file_heading) for metric in CELL_COUNTS]
    level = [("level", "Level")] if detail else []
    named = [("id", "Model ID"), ("model", "Model"), ("class", "Test class"), *level]
    score = [("score", metrics.SCORE.file_heading), *INTERVAL]
    return table_file("scores_by_class", rows, [*named, *score, *counts])


def nothing_yet(services: Services) -> tuple[Component | None, bool]:
    """Say what to do before the first run, and whether the rest of the page is hidden."""
    if services.results.table().llm_ids:
        return None, False
    return no_results("Run the tests to compare models here."), True


def register(app: Dash, services: Services) -> None:
    """Bind the handlers."""

    @on_data(
        app,
        Output(Ids.NOTE, "children"),
        Output(Ids.LEADERBOARD_BODY, "children"),
        State(Ids.VIEW, "data"),
    )
    def _show(view: str | None) -> Any:
        return note(services), leaderboard(services, view)

    bind_controls(app, Ids.SEARCH, OverviewUrl, detail=Ids.HEAT_MAP_LEVELS)
    bind_address(app, Ids.SEARCH)

    @on_data(app, Output(Ids.EMPTY, "children"), Output(Ids.BODY, "hidden"))
    def _show_empty() -> Any:
        return nothing_yet(services)

    @on_data(app, Output(Ids.CHANGES, "children"))
    def _show_changes() -> Any:
        return changes(services)

    @on_data(app, Output(Ids.HEAT_MAP, "children"), Input(Ids.HEAT_MAP_LEVELS, "value"))
    def _show_heat_map(detail: str) -> Any:
        return still(scores_by_class(services, detail))

    @on_data(app, Output(Ids.CHARTS, "children"), Input(Ids.CHARTS_SEEN, "data"))
    def _show_charts(seen: bool | None) -> Any:
        return charts(services) if seen else no_update

    view = State(Ids.VIEW, "data")
    bind_files(app, services, Ids.DOWNLOAD, {Ids.LEADERBOARD_CSV: leaderboard_csv}, view)
    detail = State(Ids.HEAT_MAP_LEVELS, "value")
    bind_files(app, services, Ids.DOWNLOAD, {Ids.HEAT_MAP_CSV: heat_map_csv}, detail)

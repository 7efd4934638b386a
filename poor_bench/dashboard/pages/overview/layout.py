"""Layout of the page: cards, charts, and changes since the last run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import dcc, html

from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.dashboard.components.badges import latency_key
from poor_bench.dashboard.components.blocks import (
    aria,
    card,
    chart,
    data,
    empty_state,
    loading_state,
    page_head,
)
from poor_bench.dashboard.components.controls import file_buttons, image_buttons
from poor_bench.dashboard.components.grids import column_chooser, small_table, view_store
from poor_bench.dashboard.figures.frontier import FrontierPoint, frontier_figure
from poor_bench.dashboard.pages.overview.tables import COLUMNS
from poor_bench.dashboard.url_state import GridUrl, model_link, query_field
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.comparison.compare import ComparedGroup, LLMComparison
    from poor_bench.dashboard.services.last_run import LastRun


class OverviewIds(StrEnum):
    """What callbacks of the page refer to."""

    EMPTY = "overview-empty-body"
    BODY = "overview-body-container"
    NOTE = "overview-note-text"
    SEARCH = "overview-search-store"
    VIEW = "overview-view-store"
    LEADERBOARD = "overview-leaderboard-grid"
    LEADERBOARD_BODY = "overview-leaderboard-body"
    LEADERBOARD_CSV = "overview-leaderboard-csv-button"
    HEAT_MAP = "overview-heat-map-body"
    HEAT_MAP_LEVELS = "overview-heat-map-levels-switch"
    HEAT_MAP_CSV = "overview-heat-map-csv-button"
    CHANGES = "overview-changes-body"
    CHARTS = "overview-charts-body"
    CHARTS_SEEN = "overview-charts-seen-store"
    DOWNLOAD = "overview-file-download"


@dataclass(frozen=True, kw_only=True)
class OverviewUrl(GridUrl):
    """The table of models, and the detail of the heat map."""

    detail: str = query_field("heat-map")
    """"levels" for a column per class and level."""


def layout(url: OverviewUrl) -> Component:
    """Return the page without data, its controls set as the address says."""
    return html.Div(
        [
            page_head("Overview", html.Span(id=OverviewIds.NOTE)),
            html.Div(id=OverviewIds.EMPTY),
            html.Div(_cards(url), id=OverviewIds.BODY, className="page-body"),
            dcc.Store(id=OverviewIds.SEARCH, data=url.without_view.search),
            view_store(OverviewIds.VIEW, url),
            dcc.Store(id=OverviewIds.CHARTS_SEEN),
            dcc.Download(id=OverviewIds.DOWNLOAD),
        ],
        className="page-body",
    )


def _cards(url: OverviewUrl) -> list[Component]:
    levels = dmc.SegmentedControl(
        id=OverviewIds.HEAT_MAP_LEVELS,
        data=[{"value": "", "label": "Classes"}, {"value": "levels", "label": "With levels"}],
        value=url.detail,
        size="xs",
        **aria(label="Detail of the heat map"),
    )
    return [
        card(
            "Model comparison",
            html.Div(
                [loading_state(6), _early_table()],
                id=OverviewIds.LEADERBOARD_BODY,
            ),
            note="Sorted by score, with 95 % confidence intervals.",
            tools=[
                column_chooser(OverviewIds.LEADERBOARD),
                file_buttons(OverviewIds.LEADERBOARD_CSV, "the model comparison"),
            ],
        ),
        card(
            "Score by test class",
            html.Div(loading_state(6), id=OverviewIds.HEAT_MAP),
            note="Choose a cell to see the results behind it.",
            tools=[levels, file_buttons(OverviewIds.HEAT_MAP_CSV, "the scores by class")],
        ),
        html.Div(id=OverviewIds.CHANGES),
        html.Div(
            loading_state(6),
            id=OverviewIds.CHARTS,
            className="chart-row",
            **data(seen_store=OverviewIds.CHARTS_SEEN),
        ),
    ]


def _early_table() -> Component:
    """Return a hidden table, so that the browser loads its script while the figures are made."""
    return html.Div(small_table(OverviewIds.LEADERBOARD, "Model comparison", COLUMNS), hidden=True)


def leaderboard(
    columns: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    floor: Sequence[Mapping[str, Any]] = (),
    view: GridUrl | None = None,
) -> Component:
    """Return the model comparison table.

    Args:
        columns: AG Grid column definitions.
        rows: One for each model.
        floor: Grey rows below: what answers score that need no model.
        view: What the address says about the table.
    """
    table = small_table(
        OverviewIds.LEADERBOARD,
        "Model comparison",
        columns,
        rows=rows,
        below=floor,
        view=view,
        view_id=OverviewIds.VIEW,
    )
    parts: list[Component] = [table]
    if any(row["latency_ms"] for row in rows):
        parts.append(latency_key())
    if floor:
        parts.append(html.P("Grey: answers that need no model.", className="card-note"))
    return table if len(parts) == 1 else html.Div(parts)


def charts(
    by_size: Sequence[FrontierPoint], by_time: Sequence[FrontierPoint], n_apart: int = 0
) -> list[Component]:
    """Return score against size and against time; `n_apart` models are left out of both."""
    apart = f" {write_count(n_apart, 'model')} excluded: not comparable." if n_apart else ""
    return [
        _chart(
            "Score against size",
            by_size,
            "size (billions of parameters)",
            'No scored model has a size. Add "size" in llms.json.',
            apart,
        ),
        _chart(
            "Score against time",
            by_time,
            "median time (s)",
            "No stored result has an execution time.",
            apart,
        ),
    ]


def _chart(
    title: str, points: Sequence[FrontierPoint], x_title: str, missing: str, apart: str
) -> Component:
    return card(
        title,
        chart(frontier_figure(points, x_title), _description(title, points), class_name="frontier")
        if points
        else empty_state("No data", missing),
        note=f"Diamonds mark the efficient frontier: no model to the left scores as high.{apart}",
        tools=image_buttons(title) if points else None,
    )


def _description(title: str, points: Sequence[FrontierPoint]) -> str:
    values = (f"{point.name}: {point.score.value:.2f} at {point.x:.3g}" for point in points)
    return f"{title}. {'; '.join(values)}"


_SHOWN_TESTS = 6


def changes_card(last_run: LastRun, name_of: Callable[[str], str]) -> Component:
    """Return which tests the last run fixed or broke, for each LLM.

    What was asked in another way than before stands apart: there the change itself is measured.
    """
    groups = [
        (item, group)
        for item in last_run.comparisons
        for group in (item.overall, *item.by_change)
        if group is not None
    ]
    changed = [
        _change_row(item, group, name_of(item.llm_after))
        for item, group in groups
        if group.count(ScoreChange.UNCHANGED) < len(group.tests)
    ]
    new = [_new_row(llm_id, name_of(llm_id)) for llm_id in last_run.new_llm_ids]
    n_tests = sum(len(group.tests) for _, group in groups)
    n_compared = write_count(n_tests, "result")
    if not changed and not new:
        return html.P(
            f"No score changed in run {last_run.run_id}: {n_compared} compared.", className="quiet"
        )
    return card(
        "Since the last run",
        html.Ul([*changed, *new], className="change-list"),
        note=f"{n_compared} of run {last_run.run_id} compared with earlier results.",
    )


def _change_row(item: LLMComparison, group: ComparedGroup, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(item.llm_after), className="change-model"),
            html.Span(_difference(group), className="change-difference"),
            html.Span(_reason(group), className="change-reason"),
            *_change_tests(item, group, ScoreChange.BROKEN, "is-broken"),
            *_change_tests(item, group, ScoreChange.FIXED, "is-fixed"),
            html.Span(_rest(group), className="quiet"),
        ]
    )


def _new_row(llm_id: str, name: str) -> Component:
    return html.Li(
        [
            dcc.Link(name, href=model_link(llm_id), className="change-model"),
            html.Span("new: no earlier results", className="change-reason"),
        ]
    )


def _reason(group: ComparedGroup) -> str:
    return ", ".join(change.text for change in group.changes)


def _difference(group: ComparedGroup) -> str:
    difference = group.difference
    verdict = "" if group.is_real() else ", not significant"
    return f"{difference.value:+.3f} ({difference.low:+.2f} to {difference.high:+.2f}{verdict})"


def _change_tests(
    item: LLMComparison, group: ComparedGroup, outcome: ScoreChange, class_name: str
) -> list[Component]:
    tests = group.with_outcome(outcome)
    if not tests:
        return []
    links: list[Component | str] = []
    for test in tests[:_SHOWN_TESTS]:
        href = model_link(item.llm_after, text=test.test_id, test=test.test_id)
        links += [dcc.Link(test.test_id, href=href), " "]
    more = len(tests) - _SHOWN_TESTS
    return [
        html.Span(
            [
                html.Strong(f"{len(tests):,} {outcome.value}: "),
                *links,
                f"and {more:,} more" if more > 0 else "",
            ],
            className=f"change-tests {class_name}",
        )
    ]


def _rest(group: ComparedGroup) -> str:
    counts = {outcome: group.count(outcome) for outcome in (ScoreChange.BETTER, ScoreChange.WORSE)}
    return ", ".join(f"{n:,} {outcome.value}" for outcome, n in counts.items() if n)

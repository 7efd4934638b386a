"""Scores by class and level: a small heat map whose cells set the filters of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dash import html

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.dashboard.components.heat_cells import describe_score, heat_legend
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.pages.model.ids import ModelIds
from poor_bench.dashboard.pages.model.url import ClassOrder, ModelUrl
from poor_bench.dashboard.url_state import write_query
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from dash.development.base_component import Component

    from poor_bench.statistics.summary import Summary

CLASSES_AT_ONCE = 20
_ORDERS = {
    ClassOrder.LOWEST: "Lowest score",
    ClassOrder.HIGHEST: "Highest score",
    ClassOrder.NAME: "Name",
}
REMOVED = "removed tests"


def build_breakdown(
    classes: Sequence[Summary], cells: Iterable[Summary], url: ModelUrl
) -> Component:
    """Build the table of one model.

    Args:
        classes: Rows by class.
        cells: Rows by class and level.
        url: Order and page of the classes.
    """
    ordered = sort_classes(classes, url.by)
    n_pages = max(1, -(-len(ordered) // CLASSES_AT_ONCE))
    page = min(url.at, n_pages)
    shown = ordered[(page - 1) * CLASSES_AT_ONCE : page * CLASSES_AT_ONCE]
    by_place = {(each.group.class_id, each.group.level): each for each in cells}
    levels = sorted({level for _, level in by_place if level is not None})
    rows = [_row(each, levels, by_place) for each in shown]
    heads = [
        "Class",
        *(["All levels"] if len(levels) > 1 else []),
        *(f"Level {level}" for level in levels),
    ]
    return html.Div(
        [
            html.Div([_orders(url), _steps(url, page, n_pages, len(ordered))], className="bar"),
            sheet(heads, rows, label="Scores by class and level", kind="heat-map"),
            heat_legend(),
        ],
        className="breakdown",
    )


def sort_classes(classes: Sequence[Summary], order: ClassOrder) -> list[Summary]:
    """Sort rows by class; those without a score come last."""
    if order is ClassOrder.NAME:
        return sorted(classes, key=lambda each: each.group.class_id or "")
    sign = 1 if order is ClassOrder.LOWEST else -1
    return sorted(
        classes,
        key=lambda each: (each.score is None, sign * each.score.value if each.score else 0.0),
    )


def _row(
    of_class: Summary,
    levels: Sequence[int],
    by_place: Mapping[tuple[str | None, int | None], Summary],
) -> Component:
    class_id = of_class.group.class_id
    name = (class_id or REMOVED).replace("_", " ")
    cells = [_cell(by_place.get((class_id, level)), f"{name}, level {level}") for level in levels]
    whole = [_cell(of_class, name)] if len(levels) > 1 else []
    return row(html.Th(name, scope="row"), *whole, *cells)


def _cell(summary: Summary | None, name: str) -> Component:
    if summary is None:
        return html.Td(html.Span("-", className="heat-cell is-empty"))
    score = metrics.SCORE.show(summary)
    stale = f", {metrics.N_STALE.show(summary)} stale" if summary.n_stale else ""
    n = html.Span(f"{metrics.SCORE.show_n(summary) or 'failed'}{stale}", className="heat-cell-n")
    group = summary.group
    place = [("class", group.class_id or ""), ("level", str(group.level or ""))]
    color = {"--score": f"{summary.score.value:.3f}"} if summary.score else {}
    button = html.Button(
        [html.Span(score or "n/a"), n],
        type="button",
        className="heat-cell" if summary.score else "heat-cell is-empty",
        title=describe_score(summary),
        style=color,
        disabled=not group.class_id,
        **aria(label=f"Show results of {name}: score {score or 'n/a'}"),
        **data(choose_store=ModelIds.DRILL, choose_value=write_query(place)),
    )
    return html.Td(button)


def _orders(url: ModelUrl) -> Component:
    buttons = [
        _switch(text, url.order.change(by=order, at=1), order is url.by)
        for order, text in _ORDERS.items()
    ]
    return html.Div(
        [html.Span("Sort by", className="chip-row-label"), *buttons],
        className="chip-row",
        role="group",
        **aria(label="Order of classes"),
    )


def _steps(url: ModelUrl, page: int, n_pages: int, n_classes: int) -> Component | None:
    if n_pages == 1:
        return None
    first, last = (page - 1) * CLASSES_AT_ONCE + 1, min(page * CLASSES_AT_ONCE, n_classes)
    shown = f"{first} to {last} of {write_count(n_classes, 'class')}"
    return html.Div(
        [
            _switch("Previous", url.order.change(at=page - 1), is_off=page == 1),
            html.Span(shown, className="quiet"),
            _switch("Next", url.order.change(at=page + 1), is_off=page == n_pages),
        ],
        className="chip-row",
        role="group",
        **aria(label="Pages of classes"),
    )


def _switch(
    text: str, order: ModelUrl, is_active: bool = False, *, is_off: bool = False
) -> Component:
    return html.Button(
        text,
        type="button",
        className="chip is-active" if is_active else "chip",
        disabled=is_off,
        **aria(pressed="true" if is_active else "false"),
        **data(choose_store=ModelIds.ORDER, choose_value=order.search),
    )

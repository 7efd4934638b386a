"""Score of every model in every class: cells that lead to the results behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.links import model_link
from poor_bench.statistics.summary import Group, Summary

if TYPE_CHECKING:
    from dash.development.base_component import Component

Column = tuple[str, int | None]
"""Class id, and level or None for all levels."""


def columns_of(summaries: Sequence[Summary]) -> list[Column]:
    """Return the columns that the summaries fill, in the order of classes, then levels."""
    classes = list(dict.fromkeys(summary.group.class_id or "" for summary in summaries))
    columns = {(summary.group.class_id or "", summary.group.level) for summary in summaries}
    return sorted(columns, key=lambda column: (classes.index(column[0]), column[1] or 0))


def heat_map(
    summaries: Sequence[Summary], llm_ids: Sequence[str], name_of: Callable[[str], str]
) -> Component:
    """Return a table with a coloured cell for each LLM and class (or class and level).

    Args:
        summaries: Rows by LLM and class, or by LLM, class and level.
        llm_ids: The lines, in their order.
        name_of: LLM id to what screens call it.
    """
    columns = columns_of(summaries)
    by_group = {_key(summary.group): summary for summary in summaries}
    head = html.Tr([html.Th("Model", scope="col"), *(_column_head(column) for column in columns)])
    body = [
        html.Tr(
            [
                html.Th(dcc.Link(name_of(llm_id), href=model_link(llm_id)), scope="row"),
                *(_cell(llm_id, column, by_group) for column in columns),
            ]
        )
        for llm_id in llm_ids
    ]
    return html.Div(
        html.Table([html.Thead(head), html.Tbody(body)], className="heat-map"),
        className="heat-map-frame",
        tabIndex="0",
        role="region",
        **aria(label="Scores by model and class"),
    )


def _key(group: Group) -> tuple[str, str, int | None]:
    return group.llm_id, group.class_id or "", group.level


def _column_head(column: Column) -> Component:
    class_id, level = column
    name = class_id.replace("_", " ") or "unknown class"
    lines = [html.Span(name)]
    if level is not None:
        lines.append(html.Span(f"level {level}", className="heat-map-level"))
    return html.Th(lines, scope="col", title=class_id)


def _cell(
    llm_id: str, column: Column, by_group: Mapping[tuple[str, str, int | None], Summary]
) -> Component:
    class_id, level = column
    summary = by_group.get((llm_id, class_id, level))
    if summary is None or summary.score is None:
        text = "failed" if summary is not None else "-"
        return html.Td(html.Span(text, className="heat-cell is-empty"))
    score = summary.score
    title = (
        f"score {score.value:.3f} (95 % CI {score.low:.2f} to {score.high:.2f}), "
        f"{summary.n_passed} of {summary.n_scored} passed, {summary.n_failed} failed to run"
    )
    return html.Td(
        dcc.Link(
            f"{score.value:.2f}",
            href=model_link(llm_id, classes=[class_id], levels=[] if level is None else [level]),
            className="heat-cell",
            title=title,
            style={"--score": f"{score.value:.3f}"},
        )
    )

"""Two answers against each other: field by field where both hold JSON, else word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.plain_text import difference
from poor_bench.dashboard.text.differences import compare_texts
from poor_bench.dashboard.text.json_differences import JsonDifference, compare_json
from poor_bench.messages import counted

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN_FIELDS = 100


def answer_difference(first: str, second: str) -> Component:
    """Return how two answers differ."""
    if first.strip() == second.strip():
        return html.P("Both answers are identical.", className="quiet")
    fields = compare_json(first, second)
    words = html.Div(
        [
            html.P(
                [html.Del("only left"), " ", html.Ins("only right")], className="difference-key"
            ),
            difference(compare_texts(first, second)),
        ]
    )
    if fields is None:
        return words
    return html.Div([_fields(fields), words], className="answer-difference")


def _fields(found: JsonDifference) -> Component:
    alike = f"{counted(found.n_alike, 'equal field')}"
    if not found.differences:
        return html.P(f"The same JSON ({alike}) in a different format.")
    shown = found.differences[:_SHOWN_FIELDS]
    rows = [
        html.Tr(
            [
                html.Th(html.Code(field.path or "whole value"), scope="row"),
                html.Td(_value(field.first, html.Del)),
                html.Td(_value(field.second, html.Ins)),
            ]
        )
        for field in shown
    ]
    rest = len(found.differences) - len(shown)
    return html.Div(
        [
            html.P(f"{counted(len(found.differences), 'different field')}, {alike}."),
            html.Table(html.Tbody(rows), className="sheet field-table"),
            html.P(f"... and {rest} more", className="quiet") if rest else None,
        ]
    )


def _value(text: str | None, tag: Callable[[str], Component]) -> Component:
    return html.Span("missing", className="quiet") if text is None else tag(text)

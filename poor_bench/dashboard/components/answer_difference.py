"""The difference of two answers: of numbers, field by field, or word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.texts import difference
from poor_bench.dashboard.text.differences import (
    LEAST_ALIKE,
    JsonDifference,
    compare_json,
    compare_texts,
    measure_similarity,
    subtract_numbers,
)
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from dash.development.base_component import Component

_SHOWN_FIELDS = 100


def answer_difference(first: str, second: str) -> Component:
    """Show the difference of two answers.

    Numbers are subtracted and JSON is compared by field. Words are compared where the texts are
    alike enough to be read as one.
    """
    if first.strip() == second.strip():
        return html.P("Both answers are identical.", className="quiet")
    change = subtract_numbers(first, second)
    if change is not None:
        return _build_number_difference(first.strip(), second.strip(), change)
    fields = compare_json(first, second)
    if fields is None:
        return _build_word_difference(first, second)
    words = _build_word_difference(first, second)
    return html.Div([_field_table(fields), words], className="answer-difference")


def _build_number_difference(first: str, second: str, change: Decimal) -> Component:
    return html.P(
        [
            "Difference: ",
            html.Strong(_change_text(change)),
            html.Span([" (", html.Del(first), " to ", html.Ins(second), ")"]),
        ]
    )


def _change_text(change: Decimal) -> str:
    return f"{change:+,.12g}" if change else "0, the same number"


def _build_word_difference(first: str, second: str) -> Component:
    pieces = compare_texts(first, second)
    similarity = measure_similarity(pieces)
    told = f"Similarity {similarity:.0%}"
    if similarity < LEAST_ALIKE:
        return html.P(f"{told}: texts differ too much for a word diff.", className="quiet")
    key = html.P(
        [f"{told}. ", html.Del("only left"), " ", html.Ins("only right")],
        className="difference-key",
    )
    return html.Div([key, difference(pieces)])


def _field_table(found: JsonDifference) -> Component:
    alike = f"{write_count(found.n_alike, 'equal field')}"
    if not found.differences:
        return html.P(f"The same JSON ({alike}) in a different format.")
    shown = found.differences[:_SHOWN_FIELDS]
    rows = [
        html.Tr(
            [
                html.Th(html.Code(field.path or "whole value"), scope="row"),
                html.Td(_field_value(field.first, html.Del)),
                html.Td(_field_value(field.second, html.Ins)),
                html.Td("" if field.change is None else _change_text(field.change)),
            ]
        )
        for field in shown
    ]
    rest = len(found.differences) - len(shown)
    return html.Div(
        [
            html.P(f"{write_count(len(found.differences), 'different field')}, {alike}."),
            html.Table(html.Tbody(rows), className="sheet field-table"),
            html.P(f"... and {rest} more", className="quiet") if rest else None,
        ]
    )


def _field_value(text: str | None, tag: Callable[[str], Component]) -> Component:
    return html.Span("missing", className="quiet") if text is None else tag(text)

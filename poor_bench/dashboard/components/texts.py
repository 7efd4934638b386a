"""Text of models as it is: white space kept, nothing taken for markup; matches and differences."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import data
from poor_bench.dashboard.text.differences import (
    LEAST_ALIKE,
    JsonDifference,
    Piece,
    TextSide,
    compare_json,
    compare_texts,
    measure_similarity,
    subtract_numbers,
)
from poor_bench.messages import harmless, write_count, write_share

_SHOWN_CHARACTERS = 40_000
_SHOWN_PIECES = 4_000


def plain_text(text: str, marked: tuple[int, int] | None = None, *, whole: str = "") -> Component:
    """Build text in a box, with a part of it marked.

    Args:
        text: Any text; beyond 40,000 characters only its beginning is shown.
        marked: Start and end of what is marked.
        whole: Address that the server gives the text at; the rest is loaded from there on demand.
    """
    shown = text[:_SHOWN_CHARACTERS]
    start, end = marked or (0, 0)
    parts: list[Any] = [harmless(shown)]
    if end > start:
        before, middle, behind = map(harmless, (shown[:start], shown[start:end], shown[end:]))
        parts = [before, html.Mark(middle), behind]
    rest = len(text) - len(shown)
    if rest <= 0 or not whole:
        return html.Div([html.Pre(parts, className="plain-text", tabIndex="0"), _more(rest)])
    version = zlib.crc32(text.encode(errors="replace"))
    return html.Div([*_long_text(parts, whole, rest)], key=f"{whole} {version}")


def _long_text(parts: list[Any], whole: str, rest: int) -> Iterator[Component]:
    """Build a box that the rest of a text is added to when the reader asks for it."""
    added = html.Span("", **data(rest_of=whole))
    yield html.Pre([*parts, added], className="plain-text", tabIndex="0")
    load = {"load_rest": whole, "rest_start": str(_SHOWN_CHARACTERS)}
    yield html.Div(
        [
            html.Button(
                f"... {rest:,} more characters",
                type="button",
                className="quiet-button",
                **data(**load),
            ),
            html.A("Plain text", href=whole, target="_blank", rel="noreferrer"),
        ],
        className="plain-text-more",
    )


def difference(pieces: Sequence[Piece]) -> Component:
    """Show a comparison: what was expected struck out, what came instead underlined.

    Args:
        pieces: Any number; only the beginning is shown of what browsers cannot show smoothly.
    """
    tags = {TextSide.BOTH: html.Span, TextSide.FIRST: html.Del, TextSide.SECOND: html.Ins}
    shown = list(_beginning(pieces))
    rest = sum(len(piece.text) for piece in pieces) - sum(len(piece.text) for piece in shown)
    parts = [tags[piece.side](harmless(piece.text)) for piece in shown]
    return html.Div([html.Pre(parts, className="plain-text", tabIndex="0"), _more(rest)])


def _beginning(pieces: Sequence[Piece]) -> Iterator[Piece]:
    n_left = _SHOWN_CHARACTERS
    for piece in pieces[:_SHOWN_PIECES]:
        if n_left <= 0:
            return
        yield Piece(piece.side, piece.text[: min(n_left, _SHOWN_CHARACTERS // 2)])
        n_left -= len(piece.text)


def _more(n_characters: int) -> Component | None:
    if n_characters <= 0:
        return None
    return html.Div(f"... {n_characters:,} more characters", className="plain-text-more")


def build_folded(title: str, *children: Component | None, is_open: bool = False) -> Component:
    """Build a block that opens and closes by its title."""
    return html.Details(
        [html.Summary(title), *(child for child in children if child is not None)],
        open=is_open,
        className="folded",
    )


Find = Callable[[str], Sequence[tuple[int, int]]]
"""Finds start and end of all matches in a text, without overlap."""
MOST_SEARCHED = 40_000
"""Characters of a text in which matches are sought."""


def mark_text(text: str, find: Find) -> list[Any]:
    """Mark the matches in a text; what lies behind the searched characters stays as it is."""
    parts: list[Any] = []
    end = 0
    for start, stop in find(text[:MOST_SEARCHED]):
        parts += [text[end:start], html.Mark(text[start:stop])]
        end = stop
    return [part for part in (*parts, text[end:]) if part]


def mark_all(content: Any, find: Find) -> Any:
    """Mark the matches in every text of some components, in place; existing marks stay."""
    if isinstance(content, str):
        found = mark_text(content, find)
        return found if any(isinstance(part, Component) for part in found) else content
    if isinstance(content, list):
        return [mark_all(part, find) for part in content]
    if isinstance(content, Component) and not isinstance(content, html.Mark):
        children = getattr(content, "children", None)
        if children is not None:
            content.children = mark_all(children, find)
    return content


_SHOWN_FIELDS = 100


def answer_difference(
    first: str,
    second: str,
    *,
    legend: tuple[str, str] = ("only left", "only right"),
    if_unlike: Component | None = None,
) -> Component:
    """Show the difference of two answers.

    Numbers are subtracted and JSON is compared by field. Words are compared where the texts are
    alike enough to be read as one.

    Args:
        first: The answer whose own words are struck out.
        second: The answer whose own words are underlined.
        legend: What either is called.
        if_unlike: Shown in place of the words compared, where neither answer stands beside.
    """
    if first.strip() == second.strip():
        return html.P("Same answer", className="quiet")
    change = subtract_numbers(first, second)
    if change is not None:
        return _build_number_difference(first.strip(), second.strip(), change)
    fields = compare_json(first, second)
    words = _build_word_difference(first, second, legend, if_unlike)
    if fields is None:
        return words
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
    return f"{change:+,.12g}" if change else "0"


def _build_word_difference(
    first: str, second: str, legend: tuple[str, str], if_unlike: Component | None
) -> Component:
    pieces = compare_texts(first, second)
    similarity = measure_similarity(pieces)
    told = f"Similarity {write_share(similarity)}"
    if similarity < LEAST_ALIKE:
        return html.Div([html.P(f"{told}: no diff.", className="quiet"), if_unlike])
    key = html.P(
        [f"{told}. ", html.Del(legend[0]), " ", html.Ins(legend[1])],
        className="difference-key",
    )
    return html.Div([key, difference(pieces)])


def _field_table(found: JsonDifference) -> Component:
    alike = f"{write_count(found.n_alike, 'equal field')}"
    if not found.differences:
        return html.P(f"Same JSON ({alike}).")
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
            html.P(f"and {rest} more", className="quiet") if rest else None,
        ]
    )


def _field_value(text: str | None, tag: Callable[[str], Component]) -> Component:
    return html.Span("missing", className="quiet") if text is None else tag(text)

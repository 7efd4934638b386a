"""Text of models as it is: white space kept, nothing taken for markup; differences of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.blocks import data
from poor_bench.dashboard.text.differences import Piece, TextSide
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dash.development.base_component import Component


_SHOWN_CHARACTERS = 40_000
_SHOWN_PIECES = 4_000


def plain_text(text: str, marked: tuple[int, int] | None = None, *, whole: str = "") -> Component:
    """Return text in a box, with a part of it marked.

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
    return html.Div([*_long_text(parts, whole, rest)], key=f"{whole} {rest}")


def _long_text(parts: list[Any], whole: str, rest: int) -> Iterator[Component]:
    """Build a box that the rest of a text is added to when the reader asks for it."""
    added = html.Span("", **data(rest_of=whole))
    yield html.Pre([*parts, added], className="plain-text", tabIndex="0")
    load = {"load_rest": whole, "rest_start": str(_SHOWN_CHARACTERS)}
    yield html.Div(
        [
            html.Button(
                f"Show {rest:,} more characters",
                type="button",
                className="quiet-button",
                **data(**load),
            ),
            html.A("Open as plain text", href=whole, target="_blank", rel="noreferrer"),
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
    return html.Div(f"... and {n_characters:,} more characters", className="plain-text-more")


def build_folded(title: str, *children: Component | None, is_open: bool = False) -> Component:
    """Return a block that opens and closes by its title."""
    return html.Details(
        [html.Summary(title), *(child for child in children if child is not None)],
        open=is_open,
        className="folded",
    )

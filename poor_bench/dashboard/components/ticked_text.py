"""Sentences of ours that put names between backticks, as a page shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dash import html

if TYPE_CHECKING:
    from dash.development.base_component import Component

_TICKED = re.compile(r"`([^`\n]+)`")


def ticked_text(text: str) -> list[str | Component]:
    """Return a text with what stands between backticks set as code, without them."""
    pieces = _TICKED.split(text)
    return [
        html.Code(piece, className="ticked") if place % 2 else piece
        for place, piece in enumerate(pieces)
        if piece
    ]

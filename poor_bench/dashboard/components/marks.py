"""Marks of what a search finds in the texts of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

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

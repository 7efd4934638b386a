"""What a reader sees of components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dash.development.base_component import Component

from poor_bench.dashboard.components.tables import Element


def text_of(children: Any) -> str:
    """Return the text of components, one space between pieces."""
    return " ".join(_pieces(children))


def of_type(children: Any, kind: str) -> list[Any]:
    """Return all components of a type such as "A" or "Link"."""
    return [part for part in components(children) if type(part).__name__ == kind]


def components(children: Any) -> Iterator[Any]:
    """Yield all components within `children`, outer ones first."""
    if isinstance(children, Element):
        yield from components(children.children)
    elif isinstance(children, list | tuple):
        for child in children:
            yield from components(child)
    elif isinstance(children, Component):
        yield children
        yield from components(getattr(children, "children", None))


def _pieces(children: Any) -> Iterator[str]:
    if isinstance(children, str | int | float):
        yield str(children)
    elif isinstance(children, Element):
        yield from _pieces(children.children)
    elif isinstance(children, list | tuple):
        for child in children:
            yield from _pieces(child)
    elif isinstance(children, Component):
        yield from _pieces(getattr(children, "children", None))

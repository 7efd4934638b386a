"""Elements as HTML text: what a browser shows before it has run a script."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.components.tables import still

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poor_bench.dashboard.components.tables import Tree

_CAPITAL = re.compile("[A-Z]")
_NAMES = {"className": "class", "htmlFor": "for"}


def write_html(content: Any) -> str:
    """Write what `still` takes as HTML; texts and attributes cannot become elements.

    Raises:
        TypeError: If a component refers to a callback, or an attribute is not a plain value.

    Example:
        >>> from dash import html
        >>> write_html(html.B("a < b", className="warm"))
        '<b class="warm">a &lt; b</b>'
    """
    trees = still([content])["props"]["trees"]
    return "".join(piece for tree in trees for piece in _write(tree))


def _write(tree: Tree | str | None) -> Iterator[str]:
    if not isinstance(tree, list):
        yield escape(tree or "")
        return
    tag, attributes, *children = tree
    yield f"<{tag}{''.join(_write_attributes(attributes))}>"
    for child in children:
        yield from _write(child)
    yield f"</{tag}>"


def _write_attributes(attributes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        text = _write_style(value) if name == "style" else value
        if not isinstance(text, str | int):
            raise TypeError(f"{name} is not a plain value")
        yield f' {_NAMES.get(name, name.lower())}="{escape(str(text))}"'


def _write_style(style: Mapping[str, str | int]) -> str:
    """Write a style as CSS: React names it otherwise."""
    return "; ".join(
        f"{_CAPITAL.sub(lambda found: f'-{found[0].lower()}', name)}: {value}"
        for name, value in style.items()
    )

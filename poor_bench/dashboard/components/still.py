"""Many elements as one component of Dash.

Dash lets every component look at every change of the page: a table of a thousand cells makes each
click slow. What has no id and no callback of its own is therefore drawn by one component of ours,
`assets/still.js`, from a tree of plain lists: tag, attributes, children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dash import dcc
from dash.development.base_component import Component

from poor_bench.dashboard.components.attributes import data

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIRED = frozenset({"id", "n_clicks"})
Tree = list[Any]
"""Tag, attributes, and any number of children: trees, or texts."""


def still(content: Any, *, search: str = "") -> Any:
    """Return elements that look the same and cost as much as one component.

    Args:
        content: Components of `dash.html` and links to pages, one or a list; None stays None.
        search: The query of the address that `content` was made for: its links change only what
            they are about, even where the reader has chosen something else in the meantime.

    Raises:
        TypeError: If a component is of another kind or refers to a callback.
    """
    if content is None:
        return None
    return {
        "namespace": "poor_bench",
        "type": "Still",
        "props": {"trees": list(_children(content)), "search": search},
    }


def _children(content: Any) -> Iterator[Tree | str | None]:
    """Yield what stands in an element; nothing keeps its place, as React knows children by it."""
    if isinstance(content, list | tuple):
        for child in content:
            yield from _children(child)
    elif isinstance(content, Component):
        yield _tree(content)
    else:
        yield None if content is None else str(content)


def _tree(component: Any) -> Tree:
    told = component.to_plotly_json()
    attributes = told["props"]
    is_link = isinstance(component, dcc.Link)
    if not is_link and told["namespace"] != "dash_html_components":
        raise TypeError(f"{told['type']} is more than an element")
    wired = _WIRED & attributes.keys()
    if wired:
        raise TypeError(f"{told['type']} is wired by {', '.join(sorted(wired))}")
    children = attributes.pop("children", None)
    if is_link:
        attributes |= data(page_link="")
    return ["a" if is_link else told["type"].lower(), attributes, *_children(children)]

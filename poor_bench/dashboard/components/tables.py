"""Plain tables, and large plain content as one component.

Dash lets every component look at every change of the page, so a table of a thousand cells makes
each click slow. What has no id and no callback of its own is therefore drawn by one component of
ours, `assets/still.js`, from a tree of plain lists: tag, attributes, children.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, data
from poor_bench.messages import harmless

_WIRED = frozenset({"id", "n_clicks"})
_NOT_ATTRIBUTES = frozenset({*vars(html.Div()), "children"})
"""What Dash keeps in every component beside what was given to it."""
Tree = list[Any]
"""Tag, attributes, and any number of children: trees, or texts."""


class Element(NamedTuple):
    """An element without a component: one of MathML, or one of very many; only for `still`."""

    tag: str
    attributes: Mapping[str, str]
    children: Sequence[Any] = ()


def still(content: Any, *, search: str = "") -> Any:
    """Pack elements into one component that looks the same.

    Characters that cannot be seen, or that reorder a text, are named in it; see `harmless`.

    Args:
        content: Components of `dash.html` and links to pages, one or a list; None stays None.
        search: The query of the address that `content` was made for: its links change only what
            they are about, even where the reader has chosen something else in the meantime.

    Raises:
        TypeError: If a component is of another kind or refers to a callback.
    """
    return None if content is None else _still(trees=trees(content), search=search)


def trees(content: Any) -> list[Any]:
    """Pack elements for the `trees` of a `still_place`: components as `still` takes them."""
    return list(_children(content))


def still_place(place_id: str) -> Any:
    """Build the place of elements that a callback answers again and again as its `trees`.

    Unlike what is answered as `children`, which Dash builds from scratch each time, an element that
    is still there stays as the reader left it: open, scrolled, filled. Others need another `key`.
    """
    return _still(id=place_id, trees=[], search="")


def _still(**properties: Any) -> dict[str, Any]:
    return {"namespace": "poor_bench", "type": "Still", "props": properties}


def _children(content: Any) -> Iterator[Tree | str | None]:
    """Yield what stands in an element; nothing keeps its place, as React knows children by it."""
    if isinstance(content, Element):
        yield [content.tag, content.attributes, *_children(list(content.children))]
    elif isinstance(content, list | tuple):
        for child in content:
            yield from _children(child)
    elif isinstance(content, Component):
        yield _tree(content)
    else:
        yield None if content is None else harmless(str(content))


def _tree(component: Any) -> Tree:
    # Not from `to_plotly_json`, which asks each component for all attributes of its kind.
    given, kind = vars(component), component._type
    attributes = {name: given[name] for name in given if name not in _NOT_ATTRIBUTES}
    is_link = isinstance(component, dcc.Link)
    if not is_link and component._namespace != "dash_html_components":
        raise TypeError(f"{kind} is more than an element")
    wired = _WIRED & attributes.keys()
    if wired:
        raise TypeError(f"{kind} is wired by {', '.join(sorted(wired))}")
    if is_link:
        attributes |= data(page_link="")
    return ["a" if is_link else kind.lower(), attributes, *_children(given.get("children"))]


def sketch_layout(content: Any, filled: Mapping[str, Any]) -> Any:
    """Build plain elements of the layout of a page, its controls as boxes with their texts.

    Args:
        content: Components, one or a list.
        filled: Id of an element to its children, as far as they are known.
    """
    if isinstance(content, list | tuple):
        return [sketch_layout(each, filled) for each in content]
    if not isinstance(content, Component) or isinstance(content, dcc.Link):
        return content
    component: Any = content
    told = component.to_plotly_json()
    attributes = {name: each for name, each in told["props"].items() if name not in _WIRED}
    if told["namespace"] != "dash_html_components":
        return _sketch_control(attributes)
    children = attributes.pop("children", None)
    inner = filled.get(told["props"].get("id"), children)
    return type(component)(sketch_layout(inner, filled), **attributes)


def _sketch_control(attributes: Mapping[str, Any]) -> Component | None:
    """Build the place of a control; None of what is not seen at first."""
    label, text = attributes.get("label"), attributes.get("children")
    if attributes.get("display") == "none" or not isinstance(label or text, str):
        return None
    if not label:
        is_large = attributes.get("size") == "sm"
        return html.Span(text, className="first-paint-button" + " is-large" * is_large)
    value = attributes.get("value") or attributes.get("placeholder") or ""
    options = [each for each in attributes.get("data", ()) if isinstance(each, dict)]
    labels = {each["value"]: each["label"] for each in options}
    chosen = value if isinstance(value, list) else [value]
    shown = ", ".join(labels.get(each, str(each)) for each in chosen)
    classes = filter(None, ("first-paint-field", attributes.get("className")))
    return html.Div([html.Span(label), html.Div(shown)], className=" ".join(classes))


def sheet(
    heads: Iterable[Any],
    rows: Iterable[Component],
    *,
    label: str = "",
    kind: str = "sheet",
    above: Any = None,
) -> Component:
    """Build a plain table that scrolls sideways.

    Args:
        heads: Headings: a text, a text with its hint, or a component.
        rows: From `row`.
        label: Its name for screen readers.
        kind: CSS classes; the first one plus `-frame` is that of the frame.
        above: Stands in the frame, above the table.
    """
    columns = [_head(head) for head in heads]
    lines = list(rows)
    if not kind.startswith("heat-map"):
        for line in lines:
            _name_cells(line, [_name(column) for column in columns])
    table = html.Table([html.Thead(html.Tr(columns)), html.Tbody(lines)], className=kind)
    named = {"role": "group", **aria(label=label)} if label else {}
    return html.Div(
        [above, table] if above is not None else table,
        className=f"{kind.split(maxsplit=1)[0]}-frame",
        tabIndex="0",
        **named,
    )


def _name_cells(line: Component, names: Sequence[str]) -> None:
    """Tell each cell the heading of its column, which a narrow window shows beside it."""
    cells = line.children
    if len(cells) != len(names):
        return  # a cell over several columns
    for cell, name in zip(cells, names, strict=True):
        if name and type(cell) is html.Td:
            setattr(cell, "data-label", name)


def _name(column: Any) -> str:
    """Find the text of a heading."""
    if isinstance(column, str):
        return column
    if isinstance(column, list | tuple):
        return " ".join(filter(None, map(_name, column)))
    return _name(getattr(column, "children", None) or "")


def row(head: Any, *cells: Any, is_open: bool = False, class_name: str = "") -> Component:
    """Build a row of a `sheet`.

    Args:
        head: What names the row: the heading cell, or its content.
        cells: Cells, or their contents.
        is_open: True for the row whose details are open.
        class_name: Further CSS class.
    """
    first = head if isinstance(head, html.Th) else html.Th(head, scope="row")
    others = [cell if isinstance(cell, html.Td) else html.Td(cell) for cell in cells]
    classes = f"{'is-open ' if is_open else ''}{class_name}".strip()
    return html.Tr([first, *others], className=classes or None)


def number(text: str, class_name: str = "", *, n: int | None = None) -> Component:
    """Build a cell with a figure.

    Args:
        text: The figure.
        class_name: Further CSS class.
        n: Over how many trials or tests it is; None for a figure that is not a mean or share.
    """
    content: list[Any] = [text] if n is None else [f"{text} ", write_n(n)]
    return html.Td(content, className=f"number {class_name}".strip())


def write_n(n: int) -> Component:
    """Write beside a mean over how many trials or tests it is."""
    return html.Span(f"n={n:,}", className="figure-n")


def quiet(content: Any, class_name: str = "") -> Component:
    """Build a cell with what matters less."""
    return html.Td(content, className=f"quiet {class_name}".strip())


def _head(head: Any) -> Component:
    if isinstance(head, html.Th):
        return head
    text, hint = head if isinstance(head, tuple) else (head, None)
    return html.Th(text, scope="col", title=hint or None)

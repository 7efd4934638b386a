"""The first paint: a page as plain HTML until the scripts have drawn it.

It stands in a new document, and comes first when a link leads to the page.
`assets/first_paint.js` removes it as soon as the page itself has something to show.
"""

from __future__ import annotations

import logging
import re
from html import escape
from typing import TYPE_CHECKING, Any

from dash import html

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.page import read_address
from poor_bench.dashboard.services.computations import waiting
from poor_bench.dashboard.services.workspace_watch import looking_once
from poor_bench.dashboard.shell import sketch_shell
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.dashboard.components.tables import Tree
    from poor_bench.dashboard.page import Page
    from poor_bench.dashboard.services.services import Services


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


_LOG = logging.getLogger(__name__)
_OPENING = '<div class="first-paint" data-first-paint="{path}" aria-busy="true">'


def write_first_paint(
    services: Services, pages: Sequence[Page], path: str, search: str, *, has_shell: bool = True
) -> str:
    """Write the sketch of the page at an address; empty if that would take time, or has none.

    Args:
        services: What the page may ask.
        pages: All pages.
        path: Path of the page.
        search: Query of the address.
        has_shell: True to write what surrounds the page, too.
    """
    page = next((each for each in pages if each.path == path), None)
    if page is None or page.sketch is None or not services.results.is_known:
        return ""
    try:
        with looking_once(), waiting(page.patience_s if has_shell else 0, from_start=True):
            services.files.workspace()  # its faults are told instead of any page
            url, _ = read_address(services, page, search)
            content = page.sketch(services, page.start(services, url))
        text = write_html(_surround(pages, page, content, has_shell)) if content else ""
    except PoorBenchError:  # the page itself tells it
        return ""
    except (LookupError, TypeError, ValueError):  # a fault of ours: the page does without
        _LOG.exception("the first paint of %s failed", page.title)
        return ""
    return f"{_OPENING.format(path=path)}{text}</div>" if text else ""


def _surround(pages: Sequence[Page], page: Page, content: Component, has_shell: bool) -> Component:
    return sketch_shell(pages, page, content) if has_shell else html.Main(content, className="page")

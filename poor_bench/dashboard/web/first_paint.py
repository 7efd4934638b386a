"""The first paint: the page as plain HTML in the document, until the scripts have drawn it.

`assets/first_paint.js` removes it as soon as the page itself has something to show.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from poor_bench.dashboard.components.plain_html import write_html
from poor_bench.dashboard.shell import sketch_shell
from poor_bench.errors import PoorBenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.dashboard.page import Page
    from poor_bench.dashboard.services.services import Services

_LOG = logging.getLogger(__name__)
_OPENING = '<div class="first-paint" data-first-paint aria-busy="true">'


def write_first_paint(services: Services, pages: Sequence[Page], path: str, search: str) -> str:
    """Write the sketch of the page at an address; empty if that would take time, or has none."""
    page = next((each for each in pages if each.path == path), None)
    if page is None or page.sketch is None or not services.results.is_known:
        return ""
    try:
        url = page.url.read(search).with_llm_ids(services.llms.id_named)
        content = page.sketch(services, page.start(services, url))
        text = write_html(sketch_shell(pages, page, content)) if content else ""
    except PoorBenchError:  # the page itself tells it
        return ""
    except (LookupError, TypeError, ValueError):  # a fault of ours: the page does without
        _LOG.exception("the first paint of %s failed", page.title)
        return ""
    return f"{_OPENING}{text}</div>" if text else ""

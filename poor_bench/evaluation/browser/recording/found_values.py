"""Where on the page the data stand that an agent returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from poor_bench.evaluation.browser.recording.robust_target import css_target
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession

_LONGEST_VALUE = 200
_MOST_VALUES = 30


def found_values(session: BrowserSession, data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A target for each dotted path whose value is the text of exactly one element."""
    found = {}
    for path, text in list(_leaves(data, ""))[:_MOST_VALUES]:
        try:
            with session.errors():
                element = session.page.get_by_text(text, exact=True)
                target = css_target(element) if element.count() == 1 else None
        except ActionError:
            continue
        if target is not None:
            found[path] = target
    return found


def _leaves(data: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}.")
        elif isinstance(value, str | int | float) and 0 < len(str(value)) <= _LONGEST_VALUE:
            yield path, str(value)

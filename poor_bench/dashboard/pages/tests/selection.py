"""Which tests the page shows, as its address tells."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.dashboard.addresses import first, search_of
from poor_bench.dashboard.links import Search, read_search
from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSelection:
    """The state of the page."""

    classes: tuple[str, ...] = ()
    text: str = ""
    only_suspicious: bool = False
    page: int = 1
    test: str = ""
    """The test that is open; may be empty."""

    @property
    def search(self) -> str:
        """The query part of the address of this state."""
        return search_of(
            class_=self.classes,
            text=[self.text],
            suspicious=["yes"] if self.only_suspicious else [],
            page=[str(self.page)] if self.page > 1 else [],
            test=[self.test],
        )

    def changed(self, **changes: Any) -> TestSelection:
        """Return the state with other values; other filters begin at the first page."""
        if changes.keys() - {"page", "test"}:
            changes.setdefault("page", 1)
        return replace(self, **changes)


def selection_of(search: str | None) -> TestSelection:
    """Return the state that the query part of an address describes.

    Example:
        >>> selection_of("?class=sums&page=2").page
        2
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> TestSelection:
    """Return the state that the parts of a query describe."""
    page = first(query, "page", "1")
    is_number = page.isascii() and page.isdigit() and len(page) < 10
    return TestSelection(
        classes=tuple(query.get("class", ())),
        text=first(query, "text"),
        only_suspicious=first(query, "suspicious") == "yes",
        page=max(1, int(page)) if is_number else 1,
        test=first(query, "test"),
    )


def chosen_tests(
    tests: Iterable[Test], selection: TestSelection, suspicious: Collection[str]
) -> list[Test]:
    """Return the tests that the filters find, in their order.

    Args:
        tests: All tests.
        selection: The filters.
        suspicious: Ids of the tests with something against them.
    """
    words = selection.text.casefold()
    return [
        test
        for test in tests
        if (not selection.classes or test.class_id in selection.classes)
        and (not selection.only_suspicious or test.test_id in suspicious)
        and (not words or words in _searched(test))
    ]


def _searched(test: Test) -> str:
    parts = (test.test_id, test.text or "", *(test.texts or ()), *test.tags)
    return "\n".join(parts).casefold()

"""What the page compares and shows, as its address tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from poor_bench.dashboard.addresses import first, search_of
from poor_bench.dashboard.links import Search, read_search
from poor_bench.dashboard.services.grid_filter import GridFilter, GridOrder, Show

DEFAULT_LLMS = 3
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSelection:
    """The state of the page."""

    llm_ids: tuple[str, ...] = ()
    """Compared LLMs; none means the best ones."""
    base: str = ""
    """What the others are compared with; empty means the first."""
    show: Show = Show.ALL
    classes: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    text: str = ""
    order: GridOrder = GridOrder.FILE
    page: int = 1
    test: str = ""
    """The test that is open beside the list; may be empty."""
    left: str = ""
    """LLM on the left of the difference of answers; empty means the base."""
    right: str = ""
    """LLM on the right of the difference of answers; empty means the first other one."""

    @property
    def search(self) -> str:
        """The query part of the address of this state; what is usual is left out."""
        return search_of(
            llm=self.llm_ids,
            base=[self.base],
            show=[] if self.show is Show.ALL else [self.show],
            class_=self.classes,
            level=[str(level) for level in self.levels],
            text=[self.text],
            order=[] if self.order is GridOrder.FILE else [self.order],
            page=[str(self.page)] if self.page > 1 else [],
            test=[self.test],
            left=[self.left],
            right=[self.right],
        )

    @property
    def filter(self) -> GridFilter:
        """Which tests are looked at."""
        return GridFilter(
            classes=frozenset(self.classes), levels=frozenset(self.levels), text=self.text
        )

    def changed(self, **changes: Any) -> CompareSelection:
        """Return the state with other values; other filters begin at the first page."""
        if changes.keys() - {"page", "test", "left", "right"}:
            changes.setdefault("page", 1)
        return replace(self, **changes)

    def columns(self, best_first: Sequence[str]) -> tuple[str, ...]:
        """Return the LLMs to compare, the base first.

        Args:
            best_first: All LLMs that have results.
        """
        known = [llm_id for llm_id in self.llm_ids if llm_id in best_first]
        chosen = list(dict.fromkeys(known)) or list(best_first[:DEFAULT_LLMS])
        base = self.base if self.base in chosen else next(iter(chosen), "")
        return tuple(sorted(chosen, key=lambda llm_id: llm_id != base))


def selection_of(search: str | None) -> CompareSelection:
    """Return the state that the query part of an address describes.

    Example:
        >>> selection_of("?llm=a&llm=b&show=ties&page=x").show
        <Show.TIES: 'ties'>
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> CompareSelection:
    """Return the state that the parts of a query describe; what makes no sense is left out."""
    page = first(query, "page", "1")
    return CompareSelection(
        llm_ids=tuple(query.get("llm", ())),
        base=first(query, "base"),
        show=_member(Show, first(query, "show"), Show.ALL),
        classes=tuple(query.get("class", ())),
        levels=tuple(int(level) for level in query.get("level", ()) if _is_number(level)),
        text=first(query, "text"),
        order=_member(GridOrder, first(query, "order"), GridOrder.FILE),
        page=max(1, int(page)) if _is_number(page) else 1,
        test=first(query, "test"),
        left=first(query, "left"),
        right=first(query, "right"),
    )


def _member(kind: type[E], text: str, default: E) -> E:
    return kind(text) if text in set(kind) else default


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10

"""What the last queries found: a table asks for its rows page by page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poor_bench.dashboard.services.found import Found
    from poor_bench.dashboard.services.result_query import ResultQuery
    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test

_KEPT = 32


class FoundCache:
    """Keeps the last 32 answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tests: Mapping[str, Test] | None = None
        self._kept: OrderedDict[tuple[int, ResultQuery], Found] = OrderedDict()

    def found(
        self,
        table: ResultTable,
        tests: Mapping[str, Test],
        query: ResultQuery,
        find: Callable[[], Found],
    ) -> Found:
        """Return what `find` returns; it is asked once for each table, tests and query."""
        key = (table.version, query)
        with self._lock:
            if tests is not self._tests:
                self._tests = tests
                self._kept.clear()
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = find()
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

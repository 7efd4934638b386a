"""The results as a table, read once for each state of the files."""

from __future__ import annotations

import threading
from collections.abc import Callable

from poor_bench.dashboard.services.result_table import ResultTable
from poor_bench.dashboard.services.table_builder import TableBuilder
from poor_bench.result_store.store import ResultStore
from poor_bench.result_store.tail import JournalTail


class ResultCache:
    """Keeps one table; while a run goes on, only the new lines of its journal are read."""

    def __init__(self, open_store: Callable[[], ResultStore]) -> None:
        """Read nothing yet.

        Args:
            open_store: Returns the store; another object once the workspace changed.
        """
        self._open_store = open_store
        self._lock = threading.Lock()
        self._store: ResultStore | None = None
        self._fingerprint: object = None
        self._tail: JournalTail | None = None
        self._builder: TableBuilder | None = None
        self._table: ResultTable | None = None

    def table(self) -> ResultTable:
        """Return the results as they are in the files now.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        store = self._open_store()
        with self._lock:
            fingerprint = store.fingerprint()
            is_other = store is not self._store or self._table is None
            is_changed = fingerprint != self._fingerprint
            if is_other or (is_changed and not self._read_on()):
                self._read_whole(store)
            self._fingerprint = fingerprint
            assert self._table is not None
            return self._table

    def forget(self) -> None:
        """Read everything anew when it is next asked for."""
        with self._lock:
            self._table = None

    def _read_whole(self, store: ResultStore) -> None:
        self._store = store
        self._tail = store.tail()
        self._builder = TableBuilder()
        self._builder.add_all(store.results())
        self._table = self._builder.table()

    def _read_on(self) -> bool:
        assert self._tail is not None
        assert self._builder is not None
        added = self._tail.new_results()
        if added is None:
            return False
        if added:
            self._builder.add_all(added)
            self._table = self._builder.table()
        return True

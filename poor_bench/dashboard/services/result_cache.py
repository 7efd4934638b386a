"""The results as a table, read once for each state of the files."""

from __future__ import annotations

import threading
from collections.abc import Callable

from poor_bench.dashboard.services.result_table import ResultTable
from poor_bench.dashboard.services.table_builder import TableBuilder
from poor_bench.errors import StoreError
from poor_bench.results.store import ResultStore
from poor_bench.results.tail import JournalTail


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
        self._error: StoreError | None = None
        """Why the files cannot be read as they are; they are read again once they changed."""

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
            if self._error is not None and not is_changed and store is self._store:
                raise self._error.with_traceback(None)
            self._fingerprint = fingerprint
            if is_other or (is_changed and not self._read_on()):
                self._read_whole(store)
            assert self._table is not None
            return self._table

    def write_some(self) -> bool:
        """Move some texts from memory to disk; return whether there were any.

        Nothing is read for that.
        """
        table = self._table
        return table is not None and table.write_some()

    def forget(self) -> None:
        """Read everything anew when it is next asked for."""
        with self._lock:
            self._table = self._error = None

    def _read_whole(self, store: ResultStore) -> None:
        """Read everything; nothing is left of what was read before, whatever happens."""
        self._store = store
        self._table = self._error = None
        self._tail = store.tail()
        self._builder = TableBuilder()
        try:
            self._builder.add_all(store.results())
        except StoreError as error:
            self._error = error
            raise
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

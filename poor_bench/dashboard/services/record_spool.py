"""Whole results in a temporary file, so that their texts need not stay in memory."""

from __future__ import annotations

import tempfile
import threading
import weakref
from array import array
from collections import deque
from itertools import accumulate
from os import SEEK_END
from typing import TYPE_CHECKING, Any

import orjson

from poor_bench.models.result import Result, record_to_result
from poor_bench.runs.journal import dump_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class RecordSpool:
    """Append-only; a place stays readable whatever becomes of the files it was read from.

    Results are written when one is asked for, or by `write_some`: who only wants to count them need
    not wait for that. May be used from several threads. The file has no name and goes with the
    process.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the object
        weakref.finalize(self, self._file.close)
        self._starts = array("q")
        self._size = 0
        self._n_places = 0
        self._unwritten: deque[Sequence[Result]] = deque()
        self._lock = threading.Lock()

    def add_all(self, results: Sequence[Result]) -> range:
        """Keep results and return their places."""
        with self._lock:
            self._unwritten.append(results)
            first = self._n_places
            self._n_places += len(results)
            return range(first, self._n_places)

    def records(self, places: Iterable[int]) -> list[dict[str, Any]]:
        """Return the records at some places, in their order."""
        while self.write_some():
            pass
        lines = []
        with self._lock:
            for place in places:
                self._file.seek(self._starts[place])
                lines.append(self._file.readline())
        return [orjson.loads(line) for line in lines]

    def result(self, place: int) -> Result:
        """Return the whole result at a place."""
        [record] = self.records([place])
        return record_to_result(record["llm_id"], record)

    def write_some(self) -> bool:
        """Write the results of one call of `add_all`; return whether there were any to write."""
        with self._lock:
            if not self._unwritten:
                return False
            lines = [dump_result(result) + b"\n" for result in self._unwritten.popleft()]
            starts = list(accumulate(map(len, lines), initial=self._size))
            self._size = starts.pop()
            self._starts.extend(starts)
            self._file.seek(0, SEEK_END)
            self._file.write(b"".join(lines))
            return True

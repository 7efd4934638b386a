"""Whole results in a temporary file, so that their texts need not stay in memory."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Iterable
from os import SEEK_END
from typing import Any

import orjson

from poor_bench.models.result import Result, record_to_result, result_to_record
from poor_bench.result_store.encode import dump_record

_LINES_AT_ONCE = 1000


class RecordSpool:
    """Append-only; a place stays readable whatever becomes of the files it was read from.

    May be used from several threads. The file has no name and goes with the process.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the object
        weakref.finalize(self, self._file.close)
        self._size = 0
        self._unwritten: list[bytes] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> int:
        """Keep a result and return its place."""
        line = dump_record(result_to_record(result)) + b"\n"
        with self._lock:
            place = self._size
            self._unwritten.append(line)
            self._size += len(line)
            if len(self._unwritten) >= _LINES_AT_ONCE:
                self._write()
        return place

    def records(self, places: Iterable[int]) -> list[dict[str, Any]]:
        """Return the records at some places, in their order."""
        lines = []
        with self._lock:
            self._write()
            for place in places:
                self._file.seek(place)
                lines.append(self._file.readline())
        return [orjson.loads(line) for line in lines]

    def result(self, place: int) -> Result:
        """Return the whole result at a place."""
        [record] = self.records([place])
        return record_to_result(record["llm_id"], record)

    def _write(self) -> None:
        self._file.seek(0, SEEK_END)
        self._file.writelines(self._unwritten)
        self._unwritten.clear()

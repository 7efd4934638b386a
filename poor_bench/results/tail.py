"""Follow the journals of a store: what was added since it was read as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from poor_bench.models.result import Result, record_to_result
from poor_bench.results.paths import StorePaths
from poor_bench.runs.journal import read_journal
from poor_bench.safe_files import open_regular

_LOG = logging.getLogger(__name__)


class _Status(NamedTuple):
    size: int
    modified_ns: int
    inode: int


class JournalTail:
    """Reads the new lines of growing journals, each line once or, right at the start, twice.

    Make it before the store is read as a whole: what is added meanwhile is then seen twice, which
    is harmless, and never not at all.
    """

    def __init__(self, paths: StorePaths, resolve: Callable[[str], str]) -> None:
        """Remember where the store stands.

        Args:
            paths: The store.
            resolve: Maps an LLM id of a file to the one in use.
        """
        self._paths = paths
        self._resolve = resolve
        self._snapshot = _status(paths.snapshot)
        self._read = dict.fromkeys(paths.journals(), 0)

    def new_results(self) -> list[Result] | None:
        """Return what was added, oldest first; None where the store must be read as a whole."""
        journals = self._paths.journals()
        if _status(self._paths.snapshot) != self._snapshot or set(self._read) - set(journals):
            return None
        results: list[Result] = []
        try:
            for path in journals:
                self._read_on(path, results)
        except FileNotFoundError:
            return None
        return results

    def _read_on(self, path: Path, results: list[Result]) -> None:
        position = self._read.get(path, 0)
        with open_regular(path) as stream:
            stream.seek(position)
            added = stream.read()
        complete = added[: added.rfind(b"\n") + 1]
        for line in read_journal(BytesIO(complete), lambda _number: None):
            llm_id = self._resolve(str(line.record.get("llm_id", "")))
            try:
                results.append(record_to_result(llm_id, line.record))
            except (ValueError, TypeError, KeyError) as error:
                _LOG.warning("%s: a row of %s: %s", path, llm_id, error)
        self._read[path] = position + len(complete)


def _status(path: Path) -> _Status | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return _Status(status.st_size, status.st_mtime_ns, status.st_ino)

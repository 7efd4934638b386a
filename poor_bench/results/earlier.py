"""Earlier results of one trial, as the files of the runs keep them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import orjson

from poor_bench.models.result import Result, record_to_result
from poor_bench.results.paths import StorePaths
from poor_bench.runs.journal import read_journal
from poor_bench.safe_files import open_regular, os_errors_told

_MOST_RUNS = 500


def find_earlier(
    paths: StorePaths, resolve: Callable[[str], str], llm_id: str, test_id: str, *, limit: int = 20
) -> list[Result]:
    """Find the stored results of a model for a test, of all trials, newest first.

    Only lines that name the test are parsed, so memory does not grow with what is stored. At most
    500 runs are searched, newest first.

    Raises:
        StoreError: If a file cannot be read.
    """
    files = heapq.nlargest(
        _MOST_RUNS, {*paths.runs(), *paths.list_unmerged()}, key=lambda path: path.stem
    )
    found: list[Result] = []
    for path in files:
        of_run = [each for each in _read(path, test_id, resolve) if each.llm_id == llm_id]
        found += reversed(of_run)
        if len(found) >= limit:
            break
    return found[:limit]


def _read(path: Path, test_id: str, resolve: Callable[[str], str]) -> Iterator[Result]:
    needle = b'"test_id":' + orjson.dumps(test_id)
    with os_errors_told(path), open_regular(path) as stream:
        for line in stream:
            if needle in line:
                yield from _parse(line, test_id, resolve)


def _parse(line: bytes, test_id: str, resolve: Callable[[str], str]) -> Iterator[Result]:
    for _, record in read_journal(BytesIO(line), lambda _number: None):
        if record.get("test_id") != test_id:
            continue
        try:
            yield record_to_result(resolve(str(record["llm_id"])), record)
        except (ValueError, TypeError, KeyError):
            continue  # a damaged row; who reads all results tells of it

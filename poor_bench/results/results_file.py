"""Results out of any file that holds some: a snapshot, the journal of a run, or a JSON report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from poor_bench.errors import StoreError
from poor_bench.models.result import Result, record_to_result
from poor_bench.results.snapshot import read_snapshot
from poor_bench.runs.journal import read_journal
from poor_bench.safe_files import open_regular

_LOG = logging.getLogger(__name__)

_FORM = "expected: results.json, a file of runs/, or the output of `report --format json`"


class ResultsFile(NamedTuple):
    """What a file of results holds."""

    results: list[Result]
    """The newest score or else the newest failure of every trial."""
    headers: dict[str, Mapping[str, Any]]
    """Run id to what is known of the run; empty where the file does not tell."""


def read_results_file(
    path: Path,
    resolve: Callable[[str], str] = lambda llm_id: llm_id,
    is_wanted: Callable[[str], bool] = lambda _llm_id: True,
) -> ResultsFile:
    """Read the results of a file; unreadable rows are skipped and logged.

    Args:
        path: `results.json` of any workspace, `runs/<run id>.jsonl`, or what `report --json` wrote.
        resolve: Maps an LLM id of the file to the one in use.
        is_wanted: Tells of an LLM id in use if its results are to be read.

    Raises:
        StoreError: If it cannot be read, or does not hold results.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    headers, records = _read_parts(content, path, cache(lambda key: is_wanted(resolve(key))))
    results = _read_results(records, resolve, path)
    return ResultsFile(newest_of_trials(r for r in results if is_wanted(r.llm_id)), headers)


def newest_of_trials(results: Iterable[Result]) -> list[Result]:
    """Select the newest score of every trial, or its newest failure if it has no score.

    Args:
        results: Oldest first.
    """
    newest: dict[tuple[str, str, int], Result] = {}
    for result in results:
        known = newest.get(result.key)
        if result.failure is None or known is None or known.failure is not None:
            newest[result.key] = result
    return list(newest.values())


def _read_parts(
    content: bytes, path: Path, is_wanted: Callable[[str], bool]
) -> tuple[dict[str, Mapping[str, Any]], Iterator[dict[str, Any]]]:
    """Split a file into headers by run id and records with their LLM ids."""
    first = _object_in(BytesIO(content).readline())
    if "run" in first or "llm_id" in first:
        header = first.get("run")
        run_id = str((header or {}).get("run_id", path.stem))
        return {run_id: header} if header else {}, _journal_records(content, path, is_wanted)
    document = _object_in(content)
    if isinstance(document.get("results"), list):
        runs = document.get("runs")
        return runs if isinstance(runs, dict) else {}, iter(document["results"])
    return {}, _snapshot_records(content, path)


def _object_in(text: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


_LLM_FIRST = b'{"llm_id":"'


def _journal_records(
    content: bytes, path: Path, is_wanted: Callable[[str], bool]
) -> Iterator[dict[str, Any]]:
    def report_damage(line: int) -> None:
        _LOG.warning("%s:%d is not readable and was skipped", path, line)

    def may_be_wanted(line: bytes) -> bool:
        # Journals name the model first. A line that does not, or escapes letters, has to be parsed.
        if not line.startswith(_LLM_FIRST):
            return True
        key = line[len(_LLM_FIRST) : line.find(b'"', len(_LLM_FIRST))]
        return b"\\" in key or is_wanted(key.decode("utf-8", "replace"))

    if _has_unwanted_only(content, may_be_wanted):
        return
    for line in read_journal(BytesIO(content), report_damage, may_be_wanted):
        yield line.record


def _has_unwanted_only(content: bytes, may_be_wanted: Callable[[bytes], bool]) -> bool:
    """True if all lines behind the first are of one model, which is not wanted.

    Counting them is quicker than looking at each. The header of a run does not tell enough: that
    of a united run is the header of one of its copies.
    """
    start = content.find(b"\n" + _LLM_FIRST)
    beginning = content[start : content.find(b'"', start + 1 + len(_LLM_FIRST)) + 1]
    is_skippable = content.startswith(b'{"run":') and not may_be_wanted(beginning[1:])
    return is_skippable and content.count(beginning) == content.count(b"\n", 0, -1)


def _snapshot_records(content: bytes, path: Path) -> Iterator[dict[str, Any]]:
    try:
        for row in read_snapshot(BytesIO(content), path):
            yield {"llm_id": row.llm_id, **row.record}
    except StoreError as error:
        raise StoreError(str(error), hint=_FORM) from error


def _read_results(
    records: Iterable[dict[str, Any]], resolve: Callable[[str], str], path: Path
) -> Iterator[Result]:
    for record in records:
        try:
            yield record_to_result(resolve(str(record["llm_id"])), record)
        except (ValueError, TypeError, KeyError) as error:
            _LOG.warning("%s: a row was skipped: %s", path, error)

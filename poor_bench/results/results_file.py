"""Results out of any file that holds some: a snapshot, the journal of a run, or a JSON report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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


class WantedTests:
    """Names the tests whose scores are to be read from runs, and collects the others."""

    def __init__(self, wanted: Mapping[str, Collection[str]]) -> None:
        """Want some tests.

        Args:
            wanted: LLM id to ids of tests.
        """
        self._wanted = wanted
        self.names: dict[bytes, str] = {}
        """Ids of tests as journals write them to one text for all LLMs."""
        self.others: dict[str, set[str]] = {}
        """LLM id to the tests that have scores which were not read."""

    def list_written(self, llm_id: str) -> frozenset[bytes]:
        """List the wanted tests of an LLM as journals write them where no letter is escaped."""
        names = self._wanted.get(llm_id, ())
        return frozenset(name.encode("utf-8", "backslashreplace") for name in names)


def read_results_file(
    path: Path,
    resolve: Callable[[str], str] = lambda llm_id: llm_id,
    is_wanted: Callable[[str], bool] = lambda _llm_id: True,
    tests: WantedTests | None = None,
) -> ResultsFile:
    """Read the results of a file; unreadable rows are skipped and logged.

    Args:
        path: `results.json` of any workspace, `runs/<run id>.jsonl`, or what `report --json` wrote.
        resolve: Maps an LLM id of the file to the one in use.
        is_wanted: Tells of an LLM id in use if its results are to be read.
        tests: In the file of a run, scores of other tests are not read; None for all tests.

    Raises:
        StoreError: If it cannot be read, or does not hold results.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    choice = _LineChoice(resolve, is_wanted, tests)
    headers, records = _read_parts(content, path, choice)
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
    content: bytes, path: Path, choice: _LineChoice
) -> tuple[dict[str, Mapping[str, Any]], Iterator[dict[str, Any]]]:
    """Split a file into headers by run id and records with their LLM ids."""
    first = _object_in(BytesIO(content).readline())
    if "run" in first or "llm_id" in first:
        header = first.get("run")
        run_id = str((header or {}).get("run_id", path.stem))
        return {run_id: header} if header else {}, _journal_records(content, path, choice)
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


_TEST_NEXT = b'","test_id":"'


class _Model(NamedTuple):
    """Lines of one model."""

    beginning: bytes
    """Of each of them, up to the id of the test if that tells which are parsed."""
    is_parsed: bool = True
    """True if all of them are parsed, or those of `wanted`."""
    wanted: Collection[bytes] | None = None
    """Tests; None for all."""
    others: set[str] = set()  # noqa: RUF012 - never changed where `wanted` is None
    """Takes the other tests."""


_UNKNOWN = _Model(beginning=b"\n")


class _LineChoice:
    """Tells which lines of a journal have to be parsed, by their first two keys.

    Journals name model and test first. A line that does not, or escapes letters, is parsed.
    """

    def __init__(
        self,
        resolve: Callable[[str], str],
        is_wanted: Callable[[str], bool],
        tests: WantedTests | None,
    ) -> None:
        self._resolve, self._is_wanted, self._tests = resolve, is_wanted, tests
        self._models: dict[bytes, _Model] = {}

    def select(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the number, from 1, and the text of each line that has to be parsed."""
        names = self._tests.names if self._tests else {}
        all_scored = _is_scored(content)
        model, start = _UNKNOWN, 0
        for number, line in enumerate(BytesIO(content), start=1):  # mostly of one model in a row
            if not line.startswith(model.beginning):
                model = self._find_model(line)
                start = len(model.beginning)
            if model.wanted is None:
                if model.is_parsed:
                    yield number, line
                continue
            test = line[start : line.find(b'"', start)]
            if test in model.wanted or b"\\" in test or not (all_scored or _is_scored(line)):
                yield number, line
                continue
            try:
                model.others.add(names.get(test) or names.setdefault(test, test.decode()))
            except UnicodeDecodeError:  # who parses it says what is wrong
                yield number, line

    def skips_all(self, content: bytes) -> bool:
        """True if all lines behind the first are of one model, which is not wanted.

        Counting them is quicker than looking at each. The header of a run does not tell enough:
        that of a united run is the header of one of its copies.
        """
        start = content.find(b"\n" + _LLM_FIRST) + 1
        model = self._find_model(content[start : content.find(b"\n", start)])
        is_skippable = content.startswith(b'{"run":') and not model.is_parsed
        n_lines = content.count(b"\n", 0, -1)
        return is_skippable and content.count(b"\n" + model.beginning) == n_lines

    def _find_model(self, line: bytes) -> _Model:
        end = line.find(b'"', len(_LLM_FIRST))
        key = line[len(_LLM_FIRST) : end]
        if not line.startswith(_LLM_FIRST) or b"\\" in key:
            return _UNKNOWN
        if key not in self._models:
            self._models[key] = self._look_at(line[:end], key.decode("utf-8", "replace"))
        model = self._models[key]
        return model if line.startswith(model.beginning) else _UNKNOWN

    def _look_at(self, beginning: bytes, key: str) -> _Model:
        llm_id = self._resolve(key)
        if not self._is_wanted(llm_id):
            return _Model(beginning + b'"', is_parsed=False)
        if self._tests is None:
            return _Model(beginning + b'"')
        others = self._tests.others.setdefault(llm_id, set())
        wanted = self._tests.list_written(llm_id)
        return _Model(beginning + _TEST_NEXT, wanted=wanted, others=others)


def _is_scored(lines: bytes) -> bool:
    """True if lines are surely those of scored trials, and the last one is not torn."""
    is_whole = lines.endswith(b"}\n")
    return is_whole and b'"failure":' not in lines and b"[API ERROR]" not in lines


def _journal_records(content: bytes, path: Path, choice: _LineChoice) -> Iterator[dict[str, Any]]:
    numbers: list[int] = []

    def report_damage(place: int) -> None:
        _LOG.warning("%s:%d is not readable and was skipped", path, numbers[place - 1])

    def select() -> Iterator[bytes]:
        for number, line in choice.select(content):
            numbers.append(number)
            yield line

    if not choice.skips_all(content):
        for line in read_journal(select(), report_damage):
            yield line.record


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

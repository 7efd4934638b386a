"""Results out of any file that holds some: a snapshot, the journal of a run, or a JSON report."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from poor_bench.errors import StoreError
from poor_bench.models.result import Result, record_to_result
from poor_bench.results.parts import PartFolder, Status, read_status
from poor_bench.results.snapshot import read_snapshot
from poor_bench.runs.journal import read_journal
from poor_bench.safe_files import open_regular, write_beside

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
        self._last: tuple[list[bytes], dict[bytes, str]] = [], {}

    def list_written(self, llm_id: str) -> frozenset[bytes]:
        """List the wanted tests of an LLM as journals write them where no letter is escaped."""
        names = self._wanted.get(llm_id, ())
        return frozenset(name.encode("utf-8", "backslashreplace") for name in names)

    def name_each(self, written: list[bytes]) -> dict[bytes, str]:
        """Name the tests of a run; many runs are of the same ones."""
        if written != self._last[0]:
            self.names.update((test, test.decode()) for test in {*written}.difference(self.names))
            self._last = written, {test: self.names[test] for test in written}
        return self._last[1]


class RunTests(NamedTuple):
    """Tests of a run whose lines are all scores of one model."""

    llm: bytes
    """As it is written in each line."""
    tests: list[bytes]
    """Of each line, in order."""

    @property
    def beginning(self) -> bytes:
        """Text of each line up to the test."""
        return _LLM_FIRST + self.llm + _TEST_NEXT


class KnownTests:
    """Keeps the tests of runs in the index, so that only lines of wanted ones are read again."""

    def __init__(self, store_folder: Path, stored: Collection[str]) -> None:
        """Read nothing yet.

        Args:
            store_folder: Of `results.json`.
            stored: Names of all runs that are stored; those of others are dropped.
        """
        self._stored = stored
        self._path = PartFolder(store_folder).folder / "tests.json"
        self._is_changed = False
        self._n_tests = 0

    @cached_property
    def _runs(self) -> dict[str, tuple[Status, RunTests]]:
        try:
            stored = orjson.loads(self._path.read_bytes())
            lists = [[name.encode() for name in names] for names in stored["lists"]]
            runs = {
                name: ((size, changed, inode), RunTests(llm.encode(), lists[place]))
                for name, (size, changed, inode, llm, place) in stored["runs"].items()
                if name in self._stored
            }
        except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
            return {}
        self._is_changed = len(runs) < len(stored["runs"])
        self._n_tests = sum({id(each.tests): len(each.tests) for _, each in runs.values()}.values())
        return runs

    def find(self, name: str, status: Status) -> RunTests | None:
        """Find the tests of a run; None if they are not kept, or its file has changed."""
        known_status, known = self._runs.get(name, (None, None))
        return known if known_status == status else None

    def note(self, name: str, status: Status, found: RunTests) -> None:
        """Note the tests of a run, unless very many are known."""
        known = next((each for _, each in self._runs.values() if each.tests == found.tests), None)
        if known is None:
            self._n_tests += len(found.tests)
        if self._n_tests <= _MOST_KNOWN:
            self._runs[name] = status, RunTests(found.llm, known.tests if known else found.tests)
            self._is_changed = True

    def keep(self) -> None:
        """Write what was noted; without permission or space, nothing is kept."""
        if not self._is_changed:
            return
        lists = {id(each.tests): each.tests for _, each in self._runs.values()}
        places = {key: place for place, key in enumerate(lists)}
        runs = {
            name: (*status, each.llm.decode(), places[id(each.tests)])
            for name, (status, each) in self._runs.items()
        }
        names = [[name.decode() for name in tests] for tests in lists.values()]
        content = orjson.dumps({"lists": names, "runs": runs})
        write_beside(self._path, lambda stream: stream.write(content))
        self._is_changed = False


def read_results_file(
    path: Path,
    resolve: Callable[[str], str] = lambda llm_id: llm_id,
    is_wanted: Callable[[str], bool] = lambda _llm_id: True,
    tests: WantedTests | None = None,
    known: KnownTests | None = None,
) -> ResultsFile:
    """Read the results of a file; unreadable rows are skipped and logged.

    Args:
        path: `results.json` of any workspace, `runs/<run id>.jsonl`, or what `report --json` wrote.
        resolve: Maps an LLM id of the file to the one in use.
        is_wanted: Tells of an LLM id in use if its results are to be read.
        tests: In the file of a run, scores of other tests are not read; None for all tests.
        known: Tells the tests of runs, and takes those that it does not know.

    Raises:
        StoreError: If it cannot be read, or does not hold results.
    """
    choice = _LineChoice(resolve, is_wanted, tests)
    try:
        with open_regular(path) as stream:
            status = read_status(os.fstat(stream.fileno()))
            of_run = known.find(path.stem, status) if known else None
            content = stream.read() if choice.needs_lines(of_run) else stream.readline()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    if tests and of_run is None:
        of_run = find_run_tests(content)
        if known and of_run and len(of_run.tests) >= _LEAST_KNOWN and len(content) == status[0]:
            known.note(path.stem, status, of_run)
    choice.of_run = of_run
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


_LLM_FIRST, _TEST_NEXT = b'{"llm_id":"', b'","test_id":"'
_LEAST_KNOWN, _MOST_KNOWN = 1_000, 1_000_000
"""Tests of a run that are worth keeping, and of all lists that are kept."""


def find_run_tests(content: bytes) -> RunTests | None:
    """Find the tests of a run if all its lines are scores of one model, and no letter is escaped.

    Four quick looks at the whole text take half as long as one at each line.
    """
    begin = content.find(b"\n" + _LLM_FIRST) + 1 + len(_LLM_FIRST)
    found = RunTests(content[begin : content.find(b'"', begin)], [])
    is_run = content.startswith(b'{"run":') and begin - len(_LLM_FIRST) == content.find(b"\n") + 1
    last = content[content.rfind(b"\n", 0, -1) + 1 :]
    if not is_run or not last.startswith(found.beginning) or not _is_scored(content):
        return None
    lines = content.split(b"\n" + found.beginning)[1:]
    found.tests.extend(line[: line.find(b'"')] for line in lines)
    is_all = len(found.tests) == content.count(b"\n") - 1
    return found if is_all and _are_plain(found.llm + b"".join(found.tests)) else None


def _are_plain(names: bytes) -> bool:
    try:
        text = names.decode()
    except UnicodeDecodeError:
        return False
    return not {"\\", "\n"}.intersection(text)


class _Model(NamedTuple):
    """Lines of one model."""

    beginning: bytes
    """Of each of them, up to the id of the test if that tells which are parsed."""
    is_parsed: bool = True
    """True if all of them are parsed, or those of `wanted`."""
    wanted: frozenset[bytes] | None = None
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
        self.of_run: RunTests | None = None
        """Tests of the run that is read, if they are known."""

    def needs_lines(self, of_run: RunTests | None) -> bool:
        """True if lines behind the first are to be parsed, as far as their tests tell."""
        if of_run is None:
            return True
        model = self._find_model(of_run.beginning)
        if self._tests is None or model.wanted is None:
            return model.is_parsed
        return not model.wanted.isdisjoint(self._tests.name_each(of_run.tests))

    def select(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the number, from 1, and the text of each line that has to be parsed."""
        model = self._find_model(self.of_run.beginning) if self.of_run else _UNKNOWN
        if self.of_run is None or self._tests is None or model.wanted is None:
            yield from self._select_one_by_one(content)
            return
        names = self._tests.name_each(self.of_run.tests)
        found = {test for test in model.wanted if test in names}
        model.others.update(names.values())
        model.others.difference_update(names[test] for test in found)
        end = content.find(b"\n") + 1
        yield 1, content[:end]
        for place, test in enumerate(self.of_run.tests if found else ()):
            if test in found:
                start = content.find(b"\n" + model.beginning + test + b'"', end - 1) + 1
                end = content.find(b"\n", start) + 1
                yield place + 2, content[start:end]

    def _select_one_by_one(self, content: bytes) -> Iterator[tuple[int, bytes]]:
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
        if model.is_parsed or not content.startswith(b'{"run":'):
            return False  # at once: counting reads the whole file
        return content.count(b"\n" + model.beginning) == content.count(b"\n", 0, -1)

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

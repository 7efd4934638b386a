"""The results of a workspace: read them, append to them, keep the file in order."""

from __future__ import annotations

import gc
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError
from poor_bench.models.result import Result, record_to_result
from poor_bench.results.merge import MergedView, sort_rows
from poor_bench.results.parts import PartFolder
from poor_bench.results.paths import StorePaths, paths_in, snapshot_locked
from poor_bench.results.snapshot import write_snapshot
from poor_bench.runs.history import EARLIER
from poor_bench.runs.journal import (
    JournalWriter,
    find_owner_lock,
    list_left_over,
    read_header,
)
from poor_bench.safe_files import open_regular, tell_os_errors
from poor_bench.statistics.trials import TrialColumns, collect_columns

if TYPE_CHECKING:
    from poor_bench.results.index import ResultIndex
    from poor_bench.results.table import ResultTable

LIMIT_VARIABLE = "POOR_BENCH_RESULTS_LIMIT"
"""Names another number of results up to which results.json is written at the end of a run."""
RUN_VERSION = "1.0"
"""Format of run files; another first number means that this version cannot read them."""
FEW_RESULTS = 20_000
"""Up to so many results, files are read as soon as the index, which has to import its database."""

_IN_EACH_ROW = b'"test_id":'
_LOG = logging.getLogger(__name__)


class ResultStore:
    """Snapshot plus journals of one workspace; any number of processes may use it at once."""

    def __init__(
        self, paths: StorePaths, resolve: Callable[[str], str] = lambda llm_id: llm_id
    ) -> None:
        """Open a store; nothing is read or written yet.

        Args:
            paths: Where it stands.
            resolve: Maps an LLM id of a file to the one in use, for ids that older tools wrote.
        """
        self.paths = paths
        self._resolve = resolve
        self._counted: tuple[tuple[object, ...], bool] = (), False
        """Files that were looked at, and whether they hold many results."""

    def open_run(self, run_id: str, header: Mapping[str, Any]) -> JournalWriter:
        """Start the journal of a run.

        Args:
            run_id: Unique, sorts by time, usable as a file name.
            header: What is to be known of the run as a whole.

        Raises:
            ConfigError: If the variable `LIMIT_VARIABLE` is not right: told now, not when the run
                ends.
            StoreError: If it cannot be written.
        """
        most_in_snapshot()
        path = self.paths.journal_dir / f"{run_id}.jsonl"
        return JournalWriter(path, {"version": RUN_VERSION, "run_id": run_id, **header})

    def run_index(self, run_id: str) -> ResultIndex:
        """Open the results of one stored run, also those that later runs replaced."""
        from poor_bench.results.joined_table import open_run

        return open_run(self.paths, run_id, self._resolve)

    def newest_run_id(self) -> str:
        """Find the id of the newest run, merged or not; empty without runs."""
        return max((path.stem for path in (*self.paths.journals(), *self.paths.runs())), default="")

    def results(self) -> Iterator[Result]:
        """Yield the newest score and the newest unsettled failure of every trial.

        Unreadable rows are left out and logged.

        Raises:
            StoreError: If the snapshot is damaged or cannot be read.
        """
        snapshot = self.paths.snapshot
        with tell_os_errors(snapshot), self._view() as view, without_collector():
            for row in view.rows():
                try:
                    yield record_to_result(self._resolve(row.llm_id), row.record)
                except (ValueError, TypeError, KeyError) as error:
                    _LOG.warning("%s: a row of %s: %s", snapshot, row.llm_id, error)

    def read_results_of(self, llm_id: str) -> Sequence[Result]:
        """Read those of one LLM; of many results, each is read where it is asked for.

        Raises:
            StoreError: If the results cannot be read.
        """
        return self.read_results_where(lambda each: each == llm_id)

    def read_results_where(self, is_wanted: Callable[[str], bool]) -> Sequence[Result]:
        """Read those of the LLMs whose id is wanted, as `read_results_of`.

        Raises:
            StoreError: If the results cannot be read.
        """
        if not self.is_large():
            return [result for result in self.results() if is_wanted(result.llm_id)]
        from poor_bench.results.text_columns import ComparedRows

        table = self.table()
        return ComparedRows(table, table.find_entries("llm_id", is_wanted).nonzero()[0])

    def table(self) -> ResultTable:
        """Read the same in columns: from the index, which follows the files.

        Raises:
            StoreError: If the results cannot be read.
        """
        return self._index.table()

    def has_more_than(self, n_results: int) -> bool:
        """True if more results are stored; it costs no more than reading so many."""
        paths = (self.paths.snapshot, *self.paths.list_unmerged())
        return _count_rows(paths, n_results) > n_results

    def is_large(self) -> bool:
        """True if the index reads the results sooner than the files do, once it is there."""
        paths = (self.paths.snapshot, *self.paths.list_unmerged())
        about = FEW_RESULTS, *map(_sign, paths)
        known, is_large = self._counted
        if known != about:  # commands ask several times
            is_large = _count_rows(paths, FEW_RESULTS) > FEW_RESULTS
            self._counted = about, is_large
        return is_large

    def columns(self) -> TrialColumns:
        """Read what figures are computed from: many results from the index, few from the files.

        Raises:
            StoreError: If the results cannot be read.
        """
        return self.table() if self.is_large() else collect_columns(self.results())

    def count_by_llm(self) -> Mapping[str, int]:
        """Count the results of each LLM.

        Raises:
            StoreError: If the results cannot be read.
        """
        if self.is_large():
            return self.table().count_values("llm_id")
        return Counter(result.llm_id for result in self.results())

    def forget(self) -> None:
        """Read everything again when a table is next asked for."""
        self._index.forget()

    @cached_property
    def _index(self) -> ResultIndex:
        from poor_bench.results.index import ResultIndex

        return ResultIndex(self.paths, self._resolve)

    def merge(self) -> int:
        """Close the runs that nobody writes to any more.

        Their results enter the snapshot, unless there are more than `most_in_snapshot()`: then the
        snapshot stays as it is, so that closing a run costs the same whatever is stored.

        Returns:
            How many runs were closed.

        Raises:
            StoreError: If the snapshot is damaged or cannot be written; the journals stay.
        """
        if not self.paths.journals():
            return 0
        with snapshot_locked(self.paths):
            journals = list_left_over(self.paths.journals())
            if not journals:
                return 0
            if self._are_few():
                self._write_snapshot([*self.paths.list_sealed(), *journals])
            else:
                _move(journals, self.paths.sealed_dir)
            return len(journals)

    def bring_in(self, drafts: Mapping[str, Path]) -> int:
        """Close runs of other machines, and the left-over ones, each in its place by its id.

        Newer runs that are in the snapshot already are opened again first, so that of two results
        of a trial the one of the later run counts, whichever was stored first. The rows of the
        snapshot are sorted.

        Args:
            drafts: Run id to its complete file, in the folder of the journals. It takes the place
                of a file with the same id, whose lines it has, too.

        Returns:
            How many left-over runs of the store itself were closed.

        Raises:
            StoreError: If the snapshot is damaged or cannot be written; the runs stay.
        """
        with snapshot_locked(self.paths):
            left_over = list_left_over(self.paths.journals())
            run_ids = [*drafts, *(path.stem for path in left_over)]
            if run_ids:
                _open_again(self.paths, min(run_ids))
            elif not self.paths.list_sealed():  # which a merge that was killed may have left
                return 0
            for run_id, draft in drafts.items():
                draft.replace(self.paths.journal_dir / f"{run_id}.jsonl")
            journals = list_left_over(self.paths.journals())
            _remove_older_copies(self.paths, journals)
            if self._are_few():
                self._write_snapshot([*self.paths.list_sealed(), *journals], is_sorted=True)
            else:
                _move(journals, self.paths.sealed_dir)
            return len(left_over)

    def export(self) -> int:
        """Write all results to the snapshot, sorted, however many there are; return how many.

        Raises:
            StoreError: If the snapshot is damaged or cannot be written.
        """
        with snapshot_locked(self.paths):
            runs = [*self.paths.list_sealed(), *list_left_over(self.paths.journals())]
            return self._write_snapshot(runs, is_sorted=True)

    def add(self, results: Iterable[Result], run_id: str, header: Mapping[str, Any]) -> None:
        """Store results that exist already, as a run of their own, and merge it.

        Raises:
            StoreError: If they could not be stored.
        """
        journal = self.open_run(run_id, header)
        try:
            for result in results:
                journal.append(result)
        finally:
            journal.close()
        self.merge()

    def _are_few(self) -> bool:
        """True if all results may be written to the snapshot; it costs no more than the limit."""
        most = most_in_snapshot()
        n_added = _count_rows(self.paths.list_unmerged(), most)
        if n_added > most:
            return False
        n_before = _count_rows([self.paths.snapshot], most)
        if n_before + n_added <= most:
            return True
        if n_before > most:
            return False
        with self._view() as view:  # trials that were repeated count once
            return sum(1 for _ in view.rows()) <= most

    def _write_snapshot(self, runs: Sequence[Path], *, is_sorted: bool = False) -> int:
        """Write the snapshot anew; `runs` were over before, so that no late row is missed.

        The oldest run is moved first: those that are left may still be read over the snapshot.
        """
        runs = sorted(runs, key=lambda path: path.stem)
        parts = PartFolder(self.paths.snapshot.parent)
        before = parts.list_known_sources(self.paths.snapshot)
        with self._view() as view, without_collector():
            rows = sort_rows(view.rows(), self.paths.journal_dir) if is_sorted else view.rows()
            n_rows = write_snapshot(self.paths.snapshot, view.extras(), rows)
        if not is_sorted:
            parts.note_merged(self.paths.snapshot, before, [path.stem for path in runs])
        _move(runs, self.paths.runs_dir)
        return n_rows

    def _view(self) -> MergedView:
        return MergedView(self.paths, self._resolve, _log_damage)


def open_store(
    data_dir: Path, resolve: Callable[[str], str] = lambda llm_id: llm_id
) -> ResultStore:
    """Open the store of a workspace."""
    return ResultStore(paths_in(data_dir), resolve)


def _log_damage(path: Path, line: int) -> None:
    _LOG.warning("%s:%d is not readable and was skipped", path, line)


def most_in_snapshot() -> int:
    """Find up to how many results the snapshot is written at the end of a run.

    Raises:
        ConfigError: If the environment variable is not a whole number.
    """
    text = os.environ.get(LIMIT_VARIABLE) or "100000"
    if not text.isdecimal():
        raise ConfigError(f"{LIMIT_VARIABLE} must be a whole number, not {text!r}")
    return int(text)


def _count_rows(paths: Iterable[Path], most: int) -> int:
    """Count the rows of some files, at most a few more than `most`."""
    n_rows = 0
    for path in paths:
        with suppress(FileNotFoundError), open_regular(path) as stream:
            rest = b""
            while n_rows <= most and (piece := stream.read(1 << 18)):
                piece = rest + piece
                n_rows += piece.count(_IN_EACH_ROW)
                rest = piece[1 - len(_IN_EACH_ROW) :]
    return n_rows


def _sign(path: Path) -> object:
    """Tell what changes with the content of a file; None without it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return path, found.st_mtime_ns, found.st_size, found.st_ino


def _open_again(paths: StorePaths, oldest: str) -> None:
    """Move the runs that are newer than this one out of the snapshot.

    The newest goes first: whenever this ends, what counts is the same as before.
    """
    newer = [path for path in paths.runs_dir.glob("*.jsonl") if path.stem > oldest]
    for path in sorted(newer, reverse=True):
        if read_header(path).get("kind") != EARLIER:
            _move([path], paths.sealed_dir)
            with suppress(FileNotFoundError):  # so that an index does not rest on the old order
                PartFolder(paths.snapshot.parent).forget_base()
                os.utime(paths.snapshot)


def _remove_older_copies(paths: StorePaths, journals: Iterable[Path]) -> None:
    for journal in journals:
        for folder in (paths.sealed_dir, paths.runs_dir):
            (folder / journal.name).unlink(missing_ok=True)


def _move(runs: Iterable[Path], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for path in runs:
        path.replace(folder / path.name)
        find_owner_lock(path).unlink(missing_ok=True)


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the cyclic garbage collector out of big loads, where it costs over half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""Stored runs of every kind: one place to list, find, start, resume and delete them."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.messages import write_count
from poor_bench.runs.journal import (
    JournalFollower,
    JournalWriter,
    find_owner_lock,
    is_owned,
    read_header,
    read_journal,
)
from poor_bench.safe_files import open_regular, tell_os_errors

_LOG = logging.getLogger(__name__)
LAST = "last"
"""Refers to the newest run."""
PREVIOUS = "previous"
"""Refers to the run before the newest one; after a rescoring, to the earlier scores."""
EARLIER = "earlier"
"""Kind of a run of tests that holds results as they were before the next run scored them again."""
RESCORE = "rescore"
"""Kind of a run of tests that only scored stored responses again."""
UNDO = "undo"
"""Kind of a run of tests that restored earlier scores."""
_LEAST_PREFIX = 4
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKind:
    """One kind of run: where its files stand, what users call it, how its progress is counted."""

    name: str
    """Such as `judged run`."""
    folders: tuple[str, ...]
    """In the workspace; new runs are written to the first one."""
    command: str
    """Command that starts a run."""
    row_keys: frozenset[str]
    """A journal line with one of these keys is a finished piece of work."""
    count_planned: Callable[[Mapping[str, Any]], int | None]
    """Pieces of work of a run by its header; None if unknown."""
    describe: Callable[[Mapping[str, Any]], str]
    """What a run is about, by its header."""
    kept_folder: str = ""
    """Folder whose runs cannot be deleted: what they hold stands nowhere else."""
    file: str = ""
    """Name of the journal where every run has a folder of its own; else the run is one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run on disk, running or not."""

    run_id: str
    path: Path
    """Its journal."""
    header: Mapping[str, Any]
    """Facts about the whole run; empty if its first line is not readable."""

    @property
    def kind(self) -> str:
        """`EARLIER`, `UNDO`, `RESCORE` or `prompt` and the like; empty where one is enough."""
        return str(self.header.get("kind", ""))

    @property
    def started(self) -> str:
        """When it began, ISO 8601; by its id if its header does not say; else empty."""
        told = str(self.header.get("started", ""))
        return told or _time_of_id(self.run_id)

    @property
    def age(self) -> tuple[str, str, str]:
        """Sort key by time: ids tell seconds, headers milliseconds."""
        return self.run_id.partition("-")[0], self.started, self.run_id

    @property
    def is_running(self) -> bool:
        """True while a process writes to it."""
        return find_owner_lock(self.path).exists() and is_owned(self.path)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the readable lines behind the header; others are logged.

        Raises:
            StoreError: If the file cannot be read.
        """

        def warn(line: int) -> None:
            _LOG.warning("%s:%d cannot be read; the line is skipped", self.path, line)

        with tell_os_errors(self.path), open_regular(self.path) as stream:
            for line in read_journal(stream, warn):
                yield line.record


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is."""

    n_done: int
    """Finished pieces of work, failed ones included."""
    n_planned: int | None
    """None if unknown."""
    is_running: bool


class RunFollower:
    """Follows one run, of this process or of another one."""

    def __init__(self, kind: RunKind, run: StoredRun) -> None:
        self.run = run
        self._kind = kind
        self._journal = JournalFollower(run.path)
        self._n_done = 0

    def progress(self) -> RunProgress:
        """Count what was added since the last call.

        Raises:
            StoreError: If the journal is gone or cannot be read.
        """
        is_running = self.run.is_running  # before reading, so that no last line is missed
        with tell_os_errors(self.run.path):
            for record in self._journal.new_records():
                self._n_done += not self._kind.row_keys.isdisjoint(record)
        n_planned = self._kind.count_planned(self.run.header)
        n_done = self._n_done if n_planned is None else min(self._n_done, n_planned)
        return RunProgress(n_done=n_done, n_planned=n_planned, is_running=is_running)


class RunHistory:
    """The runs of one kind in one workspace."""

    def __init__(self, data_dir: Path, kind: RunKind) -> None:
        self.kind = kind
        self._folders = [data_dir / folder for folder in kind.folders]

    @property
    def folder(self) -> Path:
        """Folder that new runs are written to."""
        return self._folders[0]

    def path(self, run_id: str) -> Path:
        """Path of the journal of a new run."""
        name = f"{run_id}/{self.kind.file}" if self.kind.file else f"{run_id}.jsonl"
        return self.folder / name

    def files(self) -> list[Path]:
        """List the journals, sorted by name."""
        pattern = f"*/{self.kind.file}" if self.kind.file else "*.jsonl"
        found = (path for folder in self._folders for path in folder.glob(pattern))
        return sorted(path for path in found if not path.is_dir())

    def runs(self) -> list[StoredRun]:
        """Read the headers of all runs, oldest first.

        Raises:
            StoreError: If a file cannot be read.
        """
        return read_stored_runs(self.files(), in_folders=bool(self.kind.file))

    def read(self, run_id: str) -> StoredRun:
        """Read the header of one run, wherever its file stands now.

        Raises:
            StoreError: If the run does not exist, or cannot be read.
        """
        names = [self.path(run_id).relative_to(self.folder)]
        paths = [folder / name for folder in self._folders for name in names]
        files = [path for path in paths if path.exists()] or paths[-1:]
        return read_stored_runs(files[:1], in_folders=bool(self.kind.file))[0]

    def find(
        self, reference: str, matches: Callable[[StoredRun], bool] = lambda _run: True
    ) -> StoredRun:
        """Find a run by reference.

        Args:
            reference: As in `find_run`.
            matches: Runs for which it is False are passed over.

        Raises:
            ConfigError: If it names no run, or several; the newest ones are listed.
            StoreError: If a file cannot be read.
        """
        runs = [run for run in self.runs() if matches(run)]
        name = self.kind.name
        if not runs:
            hint = f"start one: {next_command(self.kind.command)}"
            raise ConfigError(f"{reference!r} is not a {name}: none is stored yet", hint=hint)
        found = find_run(runs, reference, name)
        if found is None:
            newest = [f"{run.run_id} ({self.kind.describe(run.header)})" for run in runs[-_NAMED:]]
            hint = f"newest: {', '.join(reversed(newest))}"
            raise ConfigError(f"{reference!r} is not a {name}", hint=hint)
        return found

    def running(self, matches: Callable[[StoredRun], bool] = lambda _run: True) -> StoredRun | None:
        """Find the newest run that a process works on; None if there is none."""
        pattern = f"*/{Path(self.kind.file).stem}.lock" if self.kind.file else "*.lock"
        locks = (lock for folder in self._folders for lock in folder.glob(pattern))
        locked = [path for lock in locks if (path := lock.with_suffix(".jsonl")).exists()]
        runs = read_stored_runs(locked, in_folders=bool(self.kind.file))
        return next((run for run in reversed(runs) if run.is_running and matches(run)), None)

    @contextmanager
    def writing(self, run_id: str, header: Mapping[str, Any] | None) -> Iterator[JournalWriter]:
        """Open the journal of a run while it is running.

        Args:
            run_id: Unique, sorts by time, usable as a file name.
            header: Facts about the whole run; None resumes a stored run.

        Raises:
            StoreError: If it cannot be written, or another process writes to it.
        """
        path = self.path(run_id)
        journal = JournalWriter(path, header)
        try:
            yield journal
        finally:
            journal.close()
            find_owner_lock(path).unlink(missing_ok=True)

    def fingerprint(self) -> tuple[tuple[str, int], ...]:
        """Name and size of every file; changes with every new line."""
        return tuple(
            (path.parent.name if self.kind.file else path.stem, path.stat().st_size)
            for path in self.files()
        )

    def delete(self, run: StoredRun) -> None:
        """Delete a run and its files.

        Raises:
            RunRefusedError: If it is running.
            StoreError: If the system refuses.
        """
        if run.is_running:
            raise RunRefusedError(f"{run.run_id} is running", hint="Stop it first.")
        if run.path.parent.name == self.kind.kept_folder:
            raise RunRefusedError(
                f"{run.run_id} holds results that results.json does not have",
                hint=f"Write them there first: {next_command('results export')}",
            )
        with tell_os_errors(run.path):
            if self.kind.file:
                shutil.rmtree(run.path.parent)
                return
            run.path.unlink()
            find_owner_lock(run.path).unlink(missing_ok=True)


def make_run_id(now_iso: str, newest: str = "") -> str:
    """Make an id that sorts by time and is unique, such as `20261121T225007-3f2a91`.

    Args:
        now_iso: The present moment, ISO 8601.
        newest: The id of the newest run so far; the new one sorts after it even where the clock
            went back since, because of two results of a trial the one of the later run counts.
    """
    moment = datetime.fromisoformat(now_iso[:19])
    with suppress(ValueError):  # there is none, or an older tool named it
        after = datetime.fromisoformat(newest.partition("-")[0]) + timedelta(seconds=1)
        moment = max(moment, after)
    import secrets

    return f"{moment:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def _time_of_id(run_id: str) -> str:
    """Read the time, in UTC, that `make_run_id` wrote into an id; empty if it has none."""
    try:
        return f"{datetime.fromisoformat(run_id.partition('-')[0]):%Y-%m-%dT%H:%M:%S}+00:00"
    except ValueError:
        return ""


def read_stored_runs(files: Iterable[Path], *, in_folders: bool = False) -> list[StoredRun]:
    """Read the headers of the runs in these files, oldest first.

    Args:
        files: Journals.
        in_folders: True if each stands in a folder that has the name of its run.

    Raises:
        StoreError: If a file cannot be read.
    """
    runs = []
    for path in files:
        with tell_os_errors(path):
            header = read_header(path)
        run_id = path.parent.name if in_folders else path.stem
        runs.append(StoredRun(run_id=run_id, path=path, header=header))
    return sorted(runs, key=lambda run: run.age)


def find_run(runs: Sequence[StoredRun], reference: str, name: str = "run") -> StoredRun | None:
    """Find the run that a reference names, or None if it names none.

    Args:
        runs: Oldest first.
        reference: `last`, `previous`, or the id of a run or at least 4 characters of its beginning.
        name: What messages call a run of this kind.

    Raises:
        ConfigError: If the last or previous run does not exist, or several runs begin like that.
    """
    if reference in {LAST, PREVIOUS}:
        newest = max((place for place, run in enumerate(runs) if run.kind != EARLIER), default=-1)
        position = newest if reference == LAST else newest - 1
        if position < 0:
            message = f"no {reference} {name}: this workspace has {write_count(len(runs), name)}"
            raise ConfigError(
                message, hint=f"every `{next_command('run')}` that sends requests makes one"
            )
        return runs[position]
    found = [run for run in runs if run.run_id.startswith(reference)]
    exact = [run for run in found if run.run_id == reference]
    if exact or (len(found) == 1 and len(reference) >= _LEAST_PREFIX):
        return (exact or found)[0]
    if len(reference) < _LEAST_PREFIX or not found:
        return None
    raise ConfigError(f"{reference!r} matches several runs", hint=run_names(found))


def run_names(runs: Sequence[StoredRun]) -> str:
    """List the ids of the newest runs, the newest first."""
    return ", ".join(run.run_id for run in reversed(runs[-_NAMED:]))


def run_to_row(kind: RunKind, run: StoredRun) -> dict[str, Any]:
    """Convert what is known of a run without reading it; running ones say how far they are."""
    row = {
        "run_id": run.run_id,
        "kind": kind.name,
        "what": kind.describe(run.header),
        "started": run.started,
        "is_running": run.is_running,
    }
    return row | _count(RunFollower(kind, run).progress()) if row["is_running"] else row


def run_to_json(
    history: RunHistory, run_id: str, *, n_failed: int, cost_usd: float | None
) -> dict[str, Any]:
    """Convert a run that ended here for the key `run` of JSON output.

    Args:
        history: The runs of its kind.
        run_id: The run.
        n_failed: Pieces of work that failed to run; the model is not to blame for them.
        cost_usd: Of requests whose cost is known; None if none is.

    Raises:
        StoreError: If its journal cannot be read.
    """
    run = history.read(run_id)
    counts = _count(RunFollower(history.kind, run).progress())
    ended = {"n_failed": n_failed, "cost_usd": cost_usd}
    return {**run_to_row(history.kind, run), **counts, **ended}


def plan_to_json(
    kind: RunKind, header: Mapping[str, Any], *, n_planned: int | None, cost_usd: float | None
) -> dict[str, Any]:
    """Convert the plan of a run for the key `plan` of JSON output.

    Args:
        kind: Of the run.
        header: What it is about: the keys of its header that `RunKind.describe` reads.
        n_planned: Pieces of work that are left; None if that turns out on the way.
        cost_usd: Estimated or highest cost; None if it cannot be told before.
    """
    facts = {"n_planned": n_planned, "estimated_cost_usd": cost_usd}
    return {"kind": kind.name, "what": kind.describe(header), **facts}


def _count(progress: RunProgress) -> dict[str, Any]:
    return {"n_done": progress.n_done, "n_planned": progress.n_planned}

"""Store of judged runs and of pairwise comparisons: one append-only file per run.

```
judgements/<run id>.jsonl             header, then each conversation and judgement as it ends
judgements/<run id>.lock              held while the run is active
judgements/pairwise/<run id>.jsonl    header, then each compared pair
```

No file is ever rewritten, so any number of processes may run and read at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import Conversation
from poor_bench.judge.judged_run import (
    JudgeRun,
    RunHeader,
    header_from_record,
    header_to_record,
    with_record,
)
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.pairwise_results import PairComparison, Position
from poor_bench.runs.journal import (
    JournalWriter,
    is_owned,
    owner_lock_path,
    read_header,
    read_journal,
)
from poor_bench.safe_files import open_regular, os_errors_told

_LOG = logging.getLogger(__name__)


JUDGEMENTS_FOLDER = "judgements"


_LEAST_PREFIX = 4


_NAMED = 5


LAST = "last"
"""Refers to the newest run."""


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Appends results of a run at once; thread-safe."""

    journal: JournalWriter

    def add_conversation(self, conversation: Conversation) -> None:
        """Append a conversation.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"conversation": conversation.as_dict()})

    def add_judgement(self, judgement: Judgement) -> None:
        """Append a judgement.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"judgement": judgement.as_dict()})

    def end(self, now_iso: str) -> None:
        """Append the end of the run.

        Raises:
            StoreError: If it could not be stored.
        """
        self.journal.append_record({"ended": now_iso})


class JudgementStore:
    """The judged agents of one workspace."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / JUDGEMENTS_FOLDER

    @contextmanager
    def writing(self, header: RunHeader) -> Iterator[RunWriter]:
        """Open the file of a new run for as long as it is under way.

        Raises:
            StoreError: If it cannot be written.
        """
        path = self.folder / f"{header.run_id}.jsonl"
        journal = JournalWriter(path, header_to_record(header))
        try:
            yield RunWriter(journal)
        finally:
            journal.close()
            owner_lock_path(path).unlink(missing_ok=True)

    def headers(self) -> list[RunHeader]:
        """Read the headers of all runs, oldest first, without results.

        Raises:
            StoreError: If a file cannot be read.
        """
        headers = []
        for path in self._files():
            with os_errors_told(path):
                header = _header(path)
            if header is not None:
                headers.append(header)
        return sorted(headers, key=lambda item: (item.started, item.run_id))

    def runs(self, agent_id: str | None = None) -> list[JudgeRun]:
        """Read all runs, or those of one agent, oldest first.

        Raises:
            StoreError: If a file cannot be read.
        """
        chosen = (
            header for header in self.headers() if agent_id is None or header.agent_id == agent_id
        )
        return [self._read(header) for header in chosen]

    def find(self, reference: str) -> JudgeRun:
        """Find a run by reference.

        Args:
            reference: `last`, an agent's id (its newest run), the id of a run, or at least 4
                characters of its beginning.

        Raises:
            ConfigError: If it stands for no run, or for several.
            StoreError: If a file cannot be read.
        """
        headers = self.headers()
        newest = [item for item in headers if reference in {LAST, item.agent_id, item.run_id}]
        if newest:
            return self._read(newest[-1])
        found = [item for item in headers if item.run_id.startswith(reference)]
        if len(found) == 1 and len(reference) >= _LEAST_PREFIX:
            return self._read(found[0])
        what = "matches several runs" if len(found) > 1 else "is not a judged run"
        known = ", ".join(
            f"{item.run_id} ({item.agent_id})" for item in headers[: -_NAMED - 1 : -1]
        )
        hint = f"newest: {known}" if known else f"start one: {next_command('judge run AGENT')}"
        raise ConfigError(f"{reference!r} {what}", hint=hint)

    def is_under_way(self, run_id: str) -> bool:
        """True if a process is working on the run."""
        path = self.folder / f"{run_id}.jsonl"
        return owner_lock_path(path).exists() and is_owned(path)

    def under_way(self) -> str:
        """Id of a run that a process is working on; empty if none."""
        locked = (path.stem for path in sorted(self.folder.glob("*.lock")))
        return next((run_id for run_id in locked if self.is_under_way(run_id)), "")

    def fingerprint(self) -> tuple[tuple[str, int], ...]:
        """Name and size of every file; changes with every new line."""
        return tuple((path.name, path.stat().st_size) for path in self._files())

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def _read(self, header: RunHeader) -> JudgeRun:
        path = self.folder / f"{header.run_id}.jsonl"

        def tell(line: int) -> None:
            _LOG.warning("%s:%d cannot be read; the line is skipped", path, line)

        run = JudgeRun(header=header)
        with os_errors_told(path), open_regular(path) as stream:
            for line in read_journal(stream, tell):
                try:
                    run = with_record(run, line.record)
                except ValueError as error:
                    _LOG.warning("%s: a line is skipped: %s", path, error)
        return run


def _header(path: Path) -> RunHeader | None:
    try:
        return header_from_record(read_header(path))
    except ValueError as error:
        _LOG.warning("%s is skipped: %s", path, error)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPairwise:
    """Two runs and the duels of their conversations, as far as they were held."""

    run_id: str
    """Unique; sorts by time."""
    a_run_id: str
    b_run_id: str
    duels: tuple[PairComparison, ...]
    n_planned: int
    """Pairs of the whole comparison: more than `duels` if it was interrupted or cost too much."""


@contextmanager
def store_comparisons(
    data_dir: Path, run_id: str, a_run_id: str, b_run_id: str, n_planned: int
) -> Iterator[Callable[[PairComparison], None]]:
    """Yield what keeps a duel the moment it is over.

    Args:
        data_dir: The workspace.
        run_id: Unique, sorts by time, usable as a file name.
        a_run_id: The judged run whose conversations are called A.
        b_run_id: The other one.
        n_planned: Number of pairs, if all of them are judged.

    Raises:
        StoreError: If it cannot be written.
    """
    path = _folder(data_dir) / f"{run_id}.jsonl"
    journal = JournalWriter(
        path, {"run_id": run_id, "a": a_run_id, "b": b_run_id, "n_duels": n_planned}
    )

    def keep(duel: PairComparison) -> None:
        journal.append_record({"duel": {**asdict(duel), "outcome": duel.outcome.value}})

    try:
        yield keep
    finally:
        journal.close()
        owner_lock_path(path).unlink(missing_ok=True)


def stored_pairwise_runs(data_dir: Path) -> list[StoredPairwise]:
    """Read all comparisons, oldest first; invalid files are skipped.

    Raises:
        StoreError: If a file cannot be read.
    """
    read = (_read(path) for path in sorted(_folder(data_dir).glob("*.jsonl")))
    return [contest for contest in read if contest is not None]


def find_pairwise(data_dir: Path, reference: str) -> StoredPairwise:
    """Find a comparison by id, the start of one, or `last`.

    Raises:
        ConfigError: If there is no such comparison, or there are several.
        StoreError: If a file cannot be read.
    """
    kept = stored_pairwise_runs(data_dir)
    if reference == LAST:
        found = kept[-1:]
    else:
        found = [contest for contest in kept if contest.run_id.startswith(reference)]
    if len(found) != 1:
        what = "matches several comparisons" if found else "is not a comparison"
        hint = f"list them: {next_command('judge pairwise')}"
        raise ConfigError(f"{reference!r} {what}", hint=hint)
    return found[0]


def _folder(data_dir: Path) -> Path:
    return data_dir / JUDGEMENTS_FOLDER / "pairwise"


def _read(path: Path) -> StoredPairwise | None:
    def tell(line: int) -> None:
        _LOG.warning("%s:%d cannot be read; the line is skipped", path, line)

    with os_errors_told(path), open_regular(path) as stream:
        records = [line.record for line in read_journal(stream, tell)]
    try:
        header = read_header(path)
        duels = tuple(_duel_of(record["duel"]) for record in records if "duel" in record)
        return StoredPairwise(
            run_id=path.stem,
            a_run_id=str(header["a"]),
            b_run_id=str(header["b"]),
            duels=duels,
            n_planned=int(header.get("n_duels", len(duels))),
        )
    except (KeyError, TypeError, ValueError) as error:
        _LOG.warning("%s is skipped: %s", path, error)
        return None


def _duel_of(record: Mapping[str, Any]) -> PairComparison:
    names = {item.name for item in fields(PairComparison)}
    values = {name: value for name, value in record.items() if name in names}
    for order in ("a_first", "b_first"):
        values[order] = None if values[order] is None else Position(values[order])
    return PairComparison(**values | {"reasons": tuple(values.get("reasons", ()))})

"""Duels are kept beside the judged runs: judgements/pairwise/<run id>.jsonl, only ever added to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.judge.history.store import JUDGEMENTS_FOLDER, LAST
from poor_bench.judge.pairwise.duel import Duel, Place
from poor_bench.runs.journal import (
    JournalWriter,
    owner_lock_path,
    read_header,
    read_journal,
)
from poor_bench.safe_files import open_regular, os_errors_told

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptContest:
    """Two runs and the duels of their conversations, as far as they were held."""

    run_id: str
    """Unique; sorts by time."""
    a_run_id: str
    b_run_id: str
    duels: tuple[Duel, ...]
    n_planned: int
    """Duels of the whole comparison: more than `duels` if it was interrupted or cost too much."""


@contextmanager
def keeping_duels(
    data_dir: Path, run_id: str, a_run_id: str, b_run_id: str, n_planned: int
) -> Iterator[Callable[[Duel], None]]:
    """Yield what keeps a duel the moment it is over.

    Args:
        data_dir: The workspace.
        run_id: Unique, sorts by time, usable as a file name.
        a_run_id: The judged run whose conversations are called A.
        b_run_id: The other one.
        n_planned: Number of duels, if all of them are held.

    Raises:
        StoreError: If it cannot be written.
    """
    path = _folder(data_dir) / f"{run_id}.jsonl"
    header = {"run_id": run_id, "a": a_run_id, "b": b_run_id, "n_duels": n_planned}
    journal = JournalWriter(path, header)

    def keep(duel: Duel) -> None:
        journal.append_record({"duel": {**asdict(duel), "outcome": duel.outcome.value}})

    try:
        yield keep
    finally:
        journal.close()
        owner_lock_path(path).unlink(missing_ok=True)


def kept_contests(data_dir: Path) -> list[KeptContest]:
    """Read all comparisons, oldest first; invalid files are skipped.

    Raises:
        StoreError: If a file cannot be read.
    """
    read = (_read(path) for path in sorted(_folder(data_dir).glob("*.jsonl")))
    return [contest for contest in read if contest is not None]


def find_contest(data_dir: Path, reference: str) -> KeptContest:
    """Find a comparison by id, the start of one, or `last`.

    Raises:
        ConfigError: If there is no such comparison, or there are several.
        StoreError: If a file cannot be read.
    """
    kept = kept_contests(data_dir)
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


def _read(path: Path) -> KeptContest | None:
    def tell(line: int) -> None:
        _LOG.warning("%s:%d cannot be read; the line is skipped", path, line)

    with os_errors_told(path), open_regular(path) as stream:
        records = [line.record for line in read_journal(stream, tell)]
    try:
        header = read_header(path)
        duels = tuple(_duel_of(record["duel"]) for record in records if "duel" in record)
        return KeptContest(
            run_id=path.stem,
            a_run_id=str(header["a"]),
            b_run_id=str(header["b"]),
            duels=duels,
            n_planned=int(header.get("n_duels", len(duels))),
        )
    except (KeyError, TypeError, ValueError) as error:
        _LOG.warning("%s is skipped: %s", path, error)
        return None


def _duel_of(record: Mapping[str, Any]) -> Duel:
    names = {item.name for item in fields(Duel)}
    values = {name: value for name, value in record.items() if name in names}
    for order in ("a_first", "b_first"):
        values[order] = None if values[order] is None else Place(values[order])
    return Duel(**values | {"reasons": tuple(values.get("reasons", ()))})

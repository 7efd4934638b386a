"""Duels are kept beside the judged runs: judgements/pairwise/<run id>.jsonl, only ever added to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from poor_bench.judge.history.store import JUDGEMENTS_FOLDER
from poor_bench.judge.pairwise.duel import Duel
from poor_bench.result_store.journal import JournalWriter, owner_lock_path


@contextmanager
def keeping_duels(
    data_dir: Path, run_id: str, a_run_id: str, b_run_id: str
) -> Iterator[Callable[[Duel], None]]:
    """Yield what keeps a duel the moment it is over.

    Args:
        data_dir: The workspace.
        run_id: Unique, sorts by time, usable as a file name.
        a_run_id: The judged run whose conversations are called A.
        b_run_id: The other one.

    Raises:
        StoreError: If it cannot be written.
    """
    path = data_dir / JUDGEMENTS_FOLDER / "pairwise" / f"{run_id}.jsonl"
    journal = JournalWriter(path, {"run_id": run_id, "a": a_run_id, "b": b_run_id})

    def keep(duel: Duel) -> None:
        journal.append_record({"duel": {**asdict(duel), "outcome": duel.outcome.value}})

    try:
        yield keep
    finally:
        journal.close()
        owner_lock_path(path).unlink(missing_ok=True)

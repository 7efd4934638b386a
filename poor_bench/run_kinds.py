"""Every kind of run that a workspace stores."""

from __future__ import annotations

from pathlib import Path

from poor_bench.autopsy.reruns import AUTOPSIES
from poor_bench.errors import ConfigError
from poor_bench.evaluation.stored_run import SUITE_RUNS
from poor_bench.judge.storage import JUDGED_RUNS, PAIRWISE_RUNS
from poor_bench.results.paths import TEST_RUNS, paths_in
from poor_bench.runs.history import RunHistory, StoredRun, find_run, run_names
from poor_bench.tuning.searches import SEARCHES

RUN_KINDS = (TEST_RUNS, JUDGED_RUNS, PAIRWISE_RUNS, SUITE_RUNS, SEARCHES, AUTOPSIES)


def open_histories(data_dir: Path) -> list[RunHistory]:
    """Open the history of every kind of run."""
    others = (RunHistory(data_dir, kind) for kind in RUN_KINDS if kind is not TEST_RUNS)
    return [paths_in(data_dir).history, *others]


def find_running(data_dir: Path) -> list[tuple[RunHistory, StoredRun]]:
    """Find the newest running run of each kind, the newest last.

    Raises:
        StoreError: If a file cannot be read.
    """
    found = [(history, history.running()) for history in open_histories(data_dir)]
    running = [(history, run) for history, run in found if run is not None]
    return sorted(running, key=lambda pair: pair[1].age)


def find_any_run(data_dir: Path, reference: str) -> tuple[RunHistory, StoredRun]:
    """Find a run of any kind, with its history.

    Args:
        data_dir: The workspace.
        reference: As in `poor_bench.runs.history.find_run`; `last` is the newest of all kinds.

    Raises:
        ConfigError: If it names no run, or several.
        StoreError: If a file cannot be read.
    """
    known = [(history, run) for history in open_histories(data_dir) for run in history.runs()]
    known.sort(key=lambda pair: pair[1].age)
    found = find_run([run for _, run in known], reference)
    if found is None:
        hint = f"newest: {run_names([run for _, run in known])}" if known else ""
        raise ConfigError(f"{reference!r} is not a run", hint=hint)
    return next(pair for pair in known if pair[1] is found)

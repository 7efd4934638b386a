"""The last run, if it stopped before its end, and what is left of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from poor_bench.dashboard.services.run_state import LLMPhase, LLMProgress, RunPhase, RunState
from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.runner.selection import Selection
from poor_bench.runner.trial_states import TrialName
from poor_bench.runs.journal import read_header

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from poor_bench.results.paths import StorePaths
    from poor_bench.results.store import ResultStore
    from poor_bench.results.table import ResultTable
    from poor_bench.runner.plan import Plan


class UnfinishedRun:
    """The newest stored run of tests, whichever process ran it; its rows are counted once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[list[str], RunState | None] = [], None

    def find_unfinished(self, store: ResultStore) -> RunState | None:
        """Describe the newest run; None if it reached all its trials, or nobody knows which.

        Ask only while no run is under way.

        Raises:
            StoreError: If the results cannot be read.
            OSError: If the file of a run cannot be read.
        """
        files = [path.name for path in (*store.paths.runs(), *store.paths.journals())]
        with self._lock:
            if self._known[0] != files:
                self._known = files, _find_unfinished(store)
            return self._known[1]


def _find_unfinished(store: ResultStore) -> RunState | None:
    path, header = _find_newest(store.paths)
    selection = Selection.from_json(header.get("choice"))
    if path is None or selection is None:
        return None
    table = store.table()
    of_run = table.find_entries("run_id", lambda value: value == path.stem)
    llms = tuple(_count(table, of_run, *planned) for planned in header["llms"].items())
    state = RunState(phase=RunPhase.INTERRUPTED, run_id=path.stem, llms=llms, selection=selection)
    return state if state.n_done < state.n_items else None


def _find_newest(paths: StorePaths) -> tuple[Path | None, Mapping[str, Any]]:
    """Find the newest run that asked LLMs, with its header."""
    files = sorted((*paths.runs(), *paths.journals()), key=lambda path: path.stem)
    for path in reversed(files):
        header = read_header(path)
        if isinstance(header.get("llms"), dict):
            return path, header
    return None, {}


def _count(table: ResultTable, of_run: NDArray[np.bool_], llm_id: str, n_items: int) -> LLMProgress:
    rows = of_run & table.find_entries("llm_id", lambda value: value == llm_id)
    is_failed = table.find_entries("failure_kind", lambda kind: kind not in _NOT_FAILED)
    scores = table.columns["score"][rows & table.is_scored]
    n_failed = int((rows & is_failed).sum())
    is_complete = len(scores) + n_failed >= n_items
    return LLMProgress(
        llm_id=llm_id,
        n_items=n_items,
        phase=LLMPhase.FINISHED if is_complete else LLMPhase.INTERRUPTED,
        n_scored=len(scores),
        n_failed=n_failed,
        score_sum=float(scores.sum()),
    )


_NOT_FAILED = (None, WAITS_FOR_JUDGE.kind)


def select_rest(selection: Selection, plan: Plan, table: ResultTable, run_id: str) -> Selection:
    """Select what a run has not completed, with the same options.

    A run of pending trials is its own rest: what it completed is not pending any more. A run that
    repeats completed trials must not repeat its own.

    Args:
        selection: Of the run.
        plan: What the whole selection asks now.
        table: The stored results.
        run_id: Of the run.
    """
    if not selection.force and selection.only is None:
        return selection
    planned = {
        TrialName(item.llm.id, item.test.test_id, item.trial)
        for work in plan.works
        for item in work.items()
    }
    rest = planned - _find_completed(table, run_id)
    return replace(selection, force=False, only=frozenset(rest))


def _find_completed(table: ResultTable, run_id: str) -> set[TrialName]:
    is_completed = table.find_entries("run_id", lambda value: value == run_id) & table.is_scored
    rows = np.flatnonzero(is_completed).tolist()
    return {TrialName(table.value("llm_id", row), *table.key(row)[:2]) for row in rows}

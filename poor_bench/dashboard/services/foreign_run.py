"""Runs of other processes, seen by the journals that they write."""

from __future__ import annotations

import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poor_bench.dashboard.services.run_state import LLMPhase, LLMProgress, RunPhase, RunState
from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.results.paths import StorePaths
from poor_bench.runs.journal import JournalFollower, left_over, newest_owned, read_header

_WAITS = asdict(WAITS_FOR_JUDGE)
"""Failure of a response that has no judgement yet; its trial goes on."""


class ForeignRuns:
    """Follows the newest run of another process; each line of its journal is read once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followed: _Followed | None = None
        self._killed: _Followed | None = None

    def state(self, paths: StorePaths) -> RunState | None:
        """Return the newest run that some process is writing; None where there is none.

        Ask only while no run of this process is under way: its journal looks the same.
        """
        path = newest_owned(paths.journals())
        with self._lock:
            if path is None:
                self._followed = None
                return None
            if self._followed is None or self._followed.path != path:
                self._followed = _Followed(path)
            return self._followed.state()

    def interrupted(self, paths: StorePaths) -> RunState | None:
        """Return the newest run whose process was killed, until its results are merged."""
        left = left_over(paths.journals())
        runs = [path for path in left if isinstance(read_header(path).get("llms"), dict)]
        if not runs:
            return None
        with self._lock:
            if self._killed is None or self._killed.path != runs[-1]:
                self._killed = _Followed(runs[-1])
            return _as_interrupted(self._killed.state())


def _as_interrupted(state: RunState) -> RunState:
    llms = tuple(
        llm if llm.phase is LLMPhase.FINISHED else replace(llm, phase=LLMPhase.INTERRUPTED)
        for llm in state.llms
    )
    return replace(state, phase=RunPhase.INTERRUPTED, is_foreign=False, llms=llms)


class _Followed:
    """One journal, and what was counted in it so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._header = read_header(path)
        self._run_id = str(self._header.get("run_id", path.stem))
        """Stored answers that are scored again keep the id of the run that asked for them."""
        self._journal = JournalFollower(path)
        planned = self._header.get("llms")
        self._planned: dict[str, int] = planned if isinstance(planned, dict) else {}
        self._counts = {llm_id: _Counts() for llm_id in self._planned}

    def state(self) -> RunState:
        self._read_on()
        return RunState(
            phase=RunPhase.RUNNING,
            run_id=self._run_id,
            is_foreign=True,
            elapsed_s=_seconds_since(self._header.get("started")),
            llms=tuple(
                self._counts[llm_id].progress(llm_id, n_items)
                for llm_id, n_items in self._planned.items()
            ),
        )

    def _read_on(self) -> None:
        for record in self._journal.new_records():
            counts = self._counts.get(str(record.get("llm_id")))
            if counts is not None and record.get("run_id", self._run_id) == self._run_id:
                counts.add(record)


class _Counts:
    def __init__(self) -> None:
        self.n_scored = 0
        self.n_failed = 0
        self.score_sum = 0.0

    def add(self, record: dict[str, Any]) -> None:
        if record.get("failure") == _WAITS:
            return
        if "failure" in record:
            self.n_failed += 1
        else:
            self.n_scored += 1
            self.score_sum += record.get("score") or 0.0

    def progress(self, llm_id: str, n_items: int) -> LLMProgress:
        n_done = self.n_scored + self.n_failed
        phase = LLMPhase.RUNNING if n_done else LLMPhase.WAITING
        return LLMProgress(
            llm_id=llm_id,
            n_items=n_items,
            n_scored=self.n_scored,
            n_failed=self.n_failed,
            score_sum=self.score_sum,
            phase=LLMPhase.FINISHED if n_done >= n_items else phase,
        )


def _seconds_since(started: object) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(str(started))).total_seconds()
    except (ValueError, TypeError):
        return 0.0

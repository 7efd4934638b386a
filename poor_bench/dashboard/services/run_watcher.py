"""How far a run of tests is: from its events, or by the journal of another process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poor_bench.dashboard.services.run_state import (
    LLMPhase,
    LLMProgress,
    RunError,
    RunPhase,
    RunState,
)
from poor_bench.models.failure import WAITS_FOR_JUDGE, Failure
from poor_bench.models.result import Result
from poor_bench.pool.events import (
    LimitChanged,
    LLMFinished,
    LLMUnavailable,
    ModelLoaded,
    ModelLoading,
    ModelNotPreloaded,
)
from poor_bench.results.paths import StorePaths
from poor_bench.runner.events import (
    JudgeUnavailable,
    JudgingStarted,
    RunEvent,
    RunFinished,
    RunStarted,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)
from poor_bench.runner.rescore import RescoreTally
from poor_bench.runner.selection import Selection
from poor_bench.runs.journal import JournalFollower, read_header

_KEPT_ERRORS = 100
_SHOWN_MOVES = 20


class RunWatcher:
    """A listener of one run; `state` may be asked from any thread at any time."""

    def __init__(self, monotonic: Callable[[], float], selection: Selection | None = None) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._started = monotonic()
        self._ended: float | None = None
        self._llms: dict[str, LLMProgress] = {}
        self._first_asked: dict[str, float] = {}
        self._errors: dict[tuple[str, str], RunError] = {}
        self._rescored = RescoreTally()
        self._state = RunState(phase=RunPhase.STARTING, selection=selection)

    def __call__(self, event: RunEvent) -> None:
        """Take one event."""
        with self._lock:
            self._take(event)

    def state(self) -> RunState:
        """Describe the progress of the run."""
        with self._lock:
            now = self._monotonic() if self._ended is None else self._ended
            llms = tuple(self._add_time(progress, now) for progress in self._llms.values())
            return replace(
                self._state,
                llms=llms,
                errors=tuple(self._errors.values()),
                elapsed_s=now - self._started,
            )

    def end(self, phase: RunPhase, message: str) -> None:
        """Note that the run is over."""
        with self._lock:
            self._ended = self._monotonic()
            self._end_llms(phase)
            self._state = replace(self._state, phase=phase, message=message)

    def _end_llms(self, phase: RunPhase) -> None:
        """Leave no LLM in a phase that goes on."""
        for llm_id, llm in self._llms.items():
            if llm.phase is not LLMPhase.UNAVAILABLE:
                is_over = phase is RunPhase.FINISHED or llm.n_done >= llm.n_items
                self._change(llm_id, phase=LLMPhase.FINISHED if is_over else LLMPhase.CANCELLED)

    def _take(self, event: RunEvent) -> None:
        match event:
            case RunStarted():
                self._start(event)
            case ModelLoading() | ModelLoaded() | ModelNotPreloaded():
                self._take_of_model(event)
            case TrialFinished(result=result):
                self._count(result)
            case TrialRescored(result=result, old_score=old_score):
                self._count_rescored(result, old_score)
            case LLMUnavailable(llm_id=llm_id, failure=failure):
                self._change(llm_id, phase=LLMPhase.UNAVAILABLE)
                self._note_error(llm_id, "", failure, n_times=event.n_skipped)
            case LLMFinished(llm_id=llm_id):
                self._finish(llm_id)
            case LimitChanged(llm_id=llm_id) if llm_id in self._llms:
                self._change(llm_id, limits=str(event))
            case TrialAnswered() | JudgingStarted() | JudgeUnavailable():
                self._take_of_judge(event)
            case RunFinished(run_id=run_id, n_not_rescored=n_not_rescored):
                self._change_all(LLMPhase.FINISHED, {LLMPhase.RUNNING, LLMPhase.JUDGING})
                self._state = replace(self._state, run_id=run_id, n_not_rescored=n_not_rescored)

    def _take_of_model(self, event: ModelLoading | ModelLoaded | ModelNotPreloaded) -> None:
        is_loading = isinstance(event, ModelLoading)
        self._change(event.llm_id, phase=LLMPhase.LOADING if is_loading else LLMPhase.RUNNING)
        if isinstance(event, ModelNotPreloaded):
            self._note_error(event.llm_id, "", event.failure)

    def _take_of_judge(self, event: TrialAnswered | JudgingStarted | JudgeUnavailable) -> None:
        if isinstance(event, TrialAnswered):
            self._change(event.llm_id, phase=LLMPhase.RUNNING)
        elif isinstance(event, JudgingStarted):
            self._change_all(LLMPhase.JUDGING, {LLMPhase.FINISHED})
        else:
            self._note_error(event.judge_id, "", event.failure, n_times=event.n_skipped)

    def _count_rescored(self, result: Result, old_score: float | None) -> None:
        self._rescored.add(result, old_score)
        self._state = replace(
            self._state,
            n_rescored=self._rescored.n_scored - self._rescored.n_first,
            n_first_scored=self._rescored.n_first,
            n_not_rescored=sum(problem.n_responses for problem in self._rescored.problems),
            n_moved=len(self._rescored.moves),
            moves=tuple(self._rescored.moves[:_SHOWN_MOVES]),
        )
        if result.failure is not None:
            self._note_error(result.llm_id, result.test_id, result.failure)

    def _finish(self, llm_id: str) -> None:
        if self._llms[llm_id].phase is not LLMPhase.UNAVAILABLE:
            self._change(llm_id, phase=LLMPhase.FINISHED)

    def _start(self, event: RunStarted) -> None:
        self._llms = {
            llm_id: LLMProgress(llm_id=llm_id, n_items=n_items)
            for llm_id, n_items in event.n_by_llm.items()
        }
        self._state = replace(self._state, phase=RunPhase.RUNNING, run_id=event.run_id)

    def _count(self, result: Result) -> None:
        llm_id, progress = result.llm_id, self._llms[result.llm_id]
        is_judging = progress.phase is LLMPhase.JUDGING
        phase = LLMPhase.JUDGING if is_judging else LLMPhase.RUNNING
        took_s = (result.execution_time_ms or 0.0) / 1000
        self._first_asked.setdefault(llm_id, self._monotonic() - took_s)
        if result.failure is not None:
            self._change(llm_id, phase=phase, n_failed=progress.n_failed + 1)
            self._note_error(llm_id, result.test_id, result.failure)
            return
        self._change(
            llm_id,
            phase=phase,
            n_scored=progress.n_scored + 1,
            score_sum=progress.score_sum + (result.score or 0.0),
            tokens=progress.tokens + (result.completion_tokens or 0),
            busy_ms=progress.busy_ms + (result.execution_time_ms or 0.0),
        )

    def _change_all(self, phase: LLMPhase, of_phases: Collection[LLMPhase]) -> None:
        """Move the LLMs in some phases on to another one, where trials are left to be judged."""
        for llm_id, progress in self._llms.items():
            is_left = progress.n_done < progress.n_items or phase is LLMPhase.FINISHED
            if progress.phase in of_phases and is_left:
                self._change(llm_id, phase=phase)

    def _change(self, llm_id: str, **changes: Any) -> None:
        self._llms[llm_id] = replace(self._llms[llm_id], **changes)

    def _note_error(self, llm_id: str, test_id: str, failure: Failure, *, n_times: int = 1) -> None:
        known = self._errors.pop((llm_id, failure.message), None)
        self._errors[llm_id, failure.message] = RunError(
            llm_id=llm_id,
            test_id=known.test_id if known else test_id,
            kind=failure.kind.value,
            message=failure.message,
            n_times=n_times + (known.n_times if known else 0),
        )
        if len(self._errors) > _KEPT_ERRORS:
            del self._errors[next(iter(self._errors))]

    def _add_time(self, progress: LLMProgress, now: float) -> LLMProgress:
        first = self._first_asked.get(progress.llm_id)
        return progress if first is None else replace(progress, active_s=now - first)


_WAITS = asdict(WAITS_FOR_JUDGE)
"""Failure of a response that has no judgement yet; its trial goes on."""


class ForeignRuns:
    """Follows the newest run of another process; each line of its journal is read once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followed: _Followed | None = None

    def state(self, paths: StorePaths) -> RunState | None:
        """Describe the newest run that some process is writing; None if there is none.

        Ask only while no run of this process is under way: its journal looks the same.
        """
        run = paths.history.running()
        with self._lock:
            if run is None:
                self._followed = None
                return None
            if self._followed is None or self._followed.path != run.path:
                self._followed = _Followed(run.path)
            return self._followed.state()


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
        self._counts = {llm_id: _LiveCounts() for llm_id in self._planned}

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


class _LiveCounts:
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

"""Progress of a run: a live display on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.cli.output import say
from poor_bench.cli.rescore import print_unscored
from poor_bench.config.load import Workspace
from poor_bench.messages import harmless, write_count
from poor_bench.models.result import Result
from poor_bench.pool.events import (
    LimitChanged,
    LLMFinished,
    LLMUnavailable,
    ModelFetching,
    ModelLoaded,
    ModelLoading,
    ModelNotPreloaded,
)
from poor_bench.runner.events import (
    JudgeUnavailable,
    JudgingStarted,
    RunEvent,
    RunStarted,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)
from poor_bench.runner.rescore import RescoreTally

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_LINE_EVERY_S = 10.0


class RunView:
    """Counts the events of a run; a subclass shows them."""

    def __init__(
        self, workspace: Workspace, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Start with empty counts.

        Args:
            workspace: Names the models.
            monotonic: Clock in seconds.
        """
        self._monotonic = monotonic
        self._names = {llm.id: llm.label or llm.id for llm in workspace.llms}
        self.tallies: dict[str, LLMTally] = {}
        self.rescored = RescoreTally()
        self._told: set[str] = set()

    def __call__(self, event: RunEvent) -> None:
        """Take one event."""
        match event:
            case RunStarted():
                self._start(event)
            case ModelLoading() | ModelFetching() | ModelLoaded() | ModelNotPreloaded():
                self._take_of_model(event)
            case TrialFinished(result=result):
                self._count(result)
            case TrialRescored(result=result, old_score=old_score):
                self.rescored.add(result, old_score)
            case LLMUnavailable():
                self._tell_unavailable(event)
            case LLMFinished(llm_id=llm_id):
                self.finish(llm_id)
            case LimitChanged(llm_id=llm_id):
                if tally := self.tallies.get(llm_id):
                    tally.limits = str(event)
            case TrialAnswered() | JudgingStarted() | JudgeUnavailable():
                self._take_of_judge(event)

    def say(self, line: str) -> None:
        """Print a line. The run goes on if nobody reads it any more."""
        with suppress(BrokenPipeError):
            say(line, err=True)

    def show(self, llm_id: str, note: str, *, is_frequent: bool = False) -> None:
        """Show the progress of an LLM; frequent updates may be skipped."""

    def finish(self, llm_id: str) -> None:
        """Show that an LLM is done."""

    def name(self, llm_id: str) -> str:
        """Look up the name that screens show for an LLM."""
        return self._names.get(llm_id, llm_id)

    def _start(self, event: RunStarted) -> None:
        for llm_id, n_items in event.n_by_llm.items():
            self.tallies[llm_id] = LLMTally(n_items)

    def _count(self, result: Result) -> None:
        tally = self.tallies[result.llm_id]
        tally.add(result)
        if tally.first_at is None:
            tally.first_at = self._monotonic()
        if result.failure is not None:
            self._tell_once(result.llm_id, result.failure.message)
        self.show(result.llm_id, "", is_frequent=True)

    def _tell_unavailable(self, event: LLMUnavailable) -> None:
        self._tell_once(event.llm_id, event.failure.message)
        way_out = f" ({event.hint})" if event.hint else ""
        if event.n_skipped:
            left = write_count(event.n_skipped, "test")
            self.say(f"{self.name(event.llm_id)}: {left} pending{way_out}")

    def _take_of_model(
        self, event: ModelLoading | ModelFetching | ModelLoaded | ModelNotPreloaded
    ) -> None:
        match event:
            case ModelLoading(llm_id=llm_id):
                self.show(llm_id, "loading the model")
            case ModelFetching(llm_id=llm_id):
                self.show(
                    llm_id, f"fetching the model {_format_megabytes(event)}", is_frequent=True
                )
            case ModelLoaded(llm_id=llm_id, load_ms=load_ms) if load_ms:
                self.show(llm_id, f"model loaded in {load_ms / 1000:.1f} s")
            case ModelNotPreloaded(llm_id=llm_id, failure=failure):
                self._tell_once(llm_id, f"{failure.message} (preloading; requests are sent anyway)")

    def _take_of_judge(self, event: TrialAnswered | JudgingStarted | JudgeUnavailable) -> None:
        if isinstance(event, TrialAnswered):
            self.tallies[event.llm_id].n_answered += 1
            self.show(event.llm_id, "", is_frequent=True)
            return
        if isinstance(event, JudgingStarted):
            self.say(
                f"{self.name(event.judge_id)}: judges {write_count(event.n_items, 'response')}"
            )
            return
        self._tell_once(event.judge_id, event.failure.message)
        way_out = f" ({event.hint})" if event.hint else ""
        left = write_count(event.n_skipped, "response")
        self.say(f"{self.name(event.judge_id)}: {left} left to judge{way_out}")

    def _tell_once(self, llm_id: str, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self.say(f"{self.name(llm_id)}: {message}")


class BarsView(RunView):
    """A live bar per LLM: done, score so far, failures, tokens per second, time left."""

    def __init__(self, workspace: Workspace, progress: Progress) -> None:
        super().__init__(workspace)
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def say(self, line: str) -> None:
        """Show a line above the bars."""
        from rich.text import Text

        self._progress.console.print(Text(harmless(line)))

    def show(self, llm_id: str, note: str, *, is_frequent: bool = False) -> None:
        """Move the bar of an LLM."""
        tally = self.tallies.get(llm_id)
        if tally is None:
            return
        if llm_id not in self._tasks:
            name = harmless(self.name(llm_id))
            self._tasks[llm_id] = self._progress.add_task(name, total=tally.n_items, note="")
        self._progress.update(
            self._tasks[llm_id], completed=tally.n_done, note=note or tally.figures()
        )

    def finish(self, llm_id: str) -> None:
        """Stop the clock of an LLM's bar."""
        if llm_id in self._tasks:
            self._progress.stop_task(self._tasks[llm_id])


class LinesView(RunView):
    """A plain line per LLM every few seconds and at its end."""

    def __init__(
        self, workspace: Workspace, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(workspace, monotonic)
        self._shown_at: dict[str, float] = {}

    def show(self, llm_id: str, note: str, *, is_frequent: bool = False) -> None:
        """Print a line; a frequent one only the first time and then every few seconds."""
        now = self._monotonic()
        if is_frequent:
            if now - self._shown_at.get(llm_id, float("-inf")) < _LINE_EVERY_S:
                return
            self._shown_at[llm_id] = now
        self._line(llm_id, note)

    def finish(self, llm_id: str) -> None:
        """Print the last line of an LLM."""
        self._line(llm_id, "")

    def _line(self, llm_id: str, note: str) -> None:
        tally = self.tallies.get(llm_id)
        if tally is None:
            return
        figures = note or tally.figures()
        left = None if note else tally.seconds_left(self._monotonic())
        if left is not None:
            figures += f"  {time_left_text(left)}"
        self.say(f"{self.name(llm_id)}: {tally.n_done}/{tally.n_items}  {figures}")


class QuietView(RunView):
    """Shows nothing but what went wrong, for `--json`."""


def _format_megabytes(event: ModelFetching) -> str:
    return f"{event.n_bytes / 1e6:.0f} of {event.of_bytes / 1e6:.0f} MB"


@contextmanager
def open_run_view(workspace: Workspace, *, quiet: bool) -> Iterator[RunView]:
    """Open the view that suits the output; at the end print what was not rescored."""
    with _choose_view(workspace, quiet=quiet) as view:
        yield view
    print_unscored(view.rescored.problems)


@contextmanager
def _choose_view(workspace: Workspace, *, quiet: bool) -> Iterator[RunView]:
    if quiet:
        yield QuietView(workspace)
    elif sys.stderr.isatty():
        from poor_bench.cli.screen import open_bars

        with open_bars(with_time_left=True) as progress:
            yield BarsView(workspace, progress)
    else:
        yield LinesView(workspace)


_MINUTE_S, _HOUR_S = 60, 3600


@dataclass(slots=True)
class LLMTally:
    """Counts the trials of one LLM as they end."""

    n_items: int
    n_scored: int = 0
    n_failed: int = 0
    n_answered: int = 0
    """Responses that a judge gets to see later."""
    score_sum: float = 0.0
    tokens: int = 0
    busy_ms: float = 0.0
    limits: str = ""
    """Requests at once and a second, where the run searches them."""
    first_at: float | None = None
    """When the first trial ended, on any clock in seconds."""

    @property
    def n_done(self) -> int:
        """Trials that ended, with a score or without."""
        return self.n_scored + self.n_failed

    def add(self, result: Result) -> None:
        """Count one trial that ended."""
        if result.failure is not None:
            self.n_failed += 1
            return
        self.n_scored += 1
        self.score_sum += result.score or 0.0
        self.tokens += result.completion_tokens or 0
        self.busy_ms += result.execution_time_ms or 0.0

    def seconds_left(self, now: float) -> float | None:
        """Estimate when all trials will have ended, from the pace since the first one ended.

        Args:
            now: On the clock of `first_at`.
        """
        n_left, n_timed = self.n_items - self.n_done, self.n_done - 1
        if self.first_at is None or n_timed < 1 or n_left < 1:
            return None
        return (now - self.first_at) / n_timed * n_left

    def figures(self) -> str:
        """Describe score, tokens per second and failures so far."""
        parts = []
        if self.n_scored:
            parts.append(f"score {self.score_sum / self.n_scored:.2f}")
        if self.tokens and self.busy_ms:
            parts.append(f"{self.tokens / (self.busy_ms / 1000):.0f} tokens/s")
        if self.limits:
            parts.append(self.limits)
        if self.n_failed:
            parts.append(f"{self.n_failed} failed")
        if n_waiting := max(0, self.n_answered - self.n_done):
            parts.append(f"{n_waiting} waiting for the judge")
        return "  ".join(parts)


def time_left_text(seconds: float) -> str:
    """Write an estimated duration as people say it.

    Example:
        >>> time_left_text(7), time_left_text(95), time_left_text(5000)
        ('about 7 s left', 'about 2 min left', 'about 1.4 h left')
    """
    if seconds < _MINUTE_S:
        return f"about {max(1, seconds):.0f} s left"
    if seconds < _HOUR_S:
        return f"about {seconds / _MINUTE_S:.0f} min left"
    return f"about {seconds / _HOUR_S:.1f} h left"

"""What a run tells its listeners while it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.models.failure import Failure
from poor_bench.models.result import Result
from poor_bench.pool.events import ModelEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins; nothing has been asked yet."""

    run_id: str
    n_items: int
    """Trials to be run."""
    n_by_llm: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinished:
    """A trial ended, with a score or with a failure, and is stored."""

    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnswered:
    """A response is stored and waits for its judge; the trial ends later."""

    llm_id: str
    test_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRescored:
    """A stored response was scored again since its evaluator changed."""

    result: Result
    """With a failure where its evaluator crashed, or its judge could not be asked or understood."""
    old_score: float | None
    """None where the response could not be scored before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingStarted:
    """The LLMs are done; the responses that wait for a judge are judged now."""

    judge_id: str
    n_items: int
    """Responses that wait for this judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeUnavailable:
    """A judge cannot be asked; the responses that wait for it stay pending."""

    judge_id: str
    failure: Failure
    hint: str
    n_skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run is over and its results are in the snapshot."""

    run_id: str
    n_scored: int
    n_failed: int
    n_skipped: int
    """Trials that stay pending: cancelled, or of an LLM that cannot be asked."""
    cancelled: bool
    n_rescored: int = 0
    """Stored responses that have a new score, since their evaluator changed."""
    n_not_rescored: int = 0
    """Stored responses whose evaluator or judge failed; they keep their earlier scores."""
    cost_usd: float | None = None
    """Of requests to models and judges whose cost is known; None if none is."""


RunEvent = (
    RunStarted
    | ModelEvent
    | TrialFinished
    | TrialAnswered
    | TrialRescored
    | JudgingStarted
    | JudgeUnavailable
    | RunFinished
)

"""The figures that every screen shows of an LLM, or of a part of its tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.models.failure import FailureKind
from poor_bench.statistics.estimate import Estimate


class GroupBy(StrEnum):
    """What one row of a summary stands for."""

    LLM = "llm"
    LLM_CLASS = "llm_class"
    LLM_LEVEL = "llm_level"
    LLM_CLASS_LEVEL = "llm_class_level"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Which results a row sums up; None where it spans all classes or levels."""

    llm_id: str
    class_id: str | None = None
    """Empty where the test is not known any more."""
    level: int | None = None
    """0 where the test is not known any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSummary:
    """Execution times of scored trials, in milliseconds."""

    mean_ms: float
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One row: an LLM on all tests, on a test class, on a level, or on both.

    Failures are counted apart and enter no mean, rate or time.
    """

    group: Group
    n_tests: int
    """Tests with at least one scored trial."""
    n_scored: int
    """Scored trials."""
    n_failed: int
    """Trials without a score that failed to run."""
    n_passed: int
    """Scored trials that reached the pass mark."""
    score: Estimate | None
    """Mean over tests; None where nothing was scored."""
    strict_score: float | None
    """Mean over tests under the format rules; equals the score where every rule was kept."""
    pass_rate: Estimate | None
    """Mean over tests of the share of passed trials."""
    time: TimeSummary | None
    """None where no scored trial says how long it took."""
    prompt_tokens: int
    """Sum over the trials that tell."""
    completion_tokens: int
    """Sum over the trials that tell."""
    tokens_per_s: float | None
    """Generated tokens per second of execution time: queue, prompt processing and network count."""
    generation_tokens_per_s: float | None
    """Generated tokens per second of generating, over the trials whose server tells that time."""
    cost_usd: float | None
    """Sum over the trials that tell, failed ones included; None where none does."""
    judge_cost_usd: float | None
    """What judging their responses cost on top, likewise."""
    marks: Mapping[str, int]
    """Mark to the number of trials that carry it."""
    failures: Mapping[FailureKind, int]
    """Why the trials of `n_failed` failed."""
    n_newer_failed: int = 0
    """Scored trials whose newer attempt failed; not in `n_failed`."""

    @property
    def scored_share(self) -> float:
        """Share of the trials that ended with a score, 0.0 to 1.0; stands beside every score."""
        return scored_share(self.n_scored, self.n_failed)


def scored_share(n_scored: int, n_failed: int, n_pending: int = 0) -> float:
    """Return the share of trials that ended with a score.

    Args:
        n_scored: Trials with a score, at least 0.
        n_failed: Trials that failed to run, at least 0.
        n_pending: Planned trials without any result, at least 0.

    Returns:
        0.0 to 1.0; 0.0 where there are no trials.

    Raises:
        ValueError: If a number is below 0.

    Example:
        >>> scored_share(n_scored=18, n_failed=2)
        0.9
    """
    if min(n_scored, n_failed, n_pending) < 0:
        raise ValueError("numbers of trials must be at least 0")
    total = n_scored + n_failed + n_pending
    return n_scored / total if total else 0.0

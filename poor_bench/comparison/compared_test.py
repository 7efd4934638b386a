"""One test on both sides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.comparison.obstacle import Obstacle
from poor_bench.models.result import Result


class Outcome(StrEnum):
    """What became of a test that both sides have scored."""

    FIXED = "fixed"
    """It did not pass before, and does now."""
    BROKEN = "broken"
    """It passed before, and does not now."""
    BETTER = "better"
    """It scores more, and passes on both sides or on neither."""
    WORSE = "worse"
    """It scores less, and passes on both sides or on neither."""
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTest:
    """One test of one LLM on both sides."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    before: float | None
    """Mean score over trials, 0.0 to 1.0; None where nothing was scored."""
    after: float | None
    """As `before`."""
    outcome: Outcome | None
    """None where one side has no score."""
    obstacles: tuple[Obstacle, ...] = ()
    is_verified: bool = True
    """Whether both sides tell what they were asked and how they were scored."""
    same_answers: bool = False
    """True if both sides scored the very same answers."""

    def is_comparable(self, allowed: Collection[Obstacle] = ()) -> bool:
        """Return whether both sides were scored, and nothing beyond `allowed` changed."""
        return self.outcome is not None and set(self.obstacles) <= set(allowed)

    @property
    def difference(self) -> float:
        """Score after minus score before, -1.0 to 1.0; 0.0 where one of them is missing."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


def mean_score_of(results: Sequence[Result]) -> float | None:
    """Return the mean score of the scored trials of one test, or None where there are none."""
    scores = [result.score for result in results if result.score is not None]
    return sum(scores) / len(scores) if scores else None


def outcome_of(before: float | None, after: float | None, pass_score: float) -> Outcome | None:
    """Return what became of a test.

    Args:
        before: Mean score, or None.
        after: Mean score, or None.
        pass_score: From which mean score on a test passes.

    Example:
        >>> outcome_of(1.0, 0.5, pass_score=1.0).value, outcome_of(0.2, 0.5, pass_score=1.0).value
        ('broken', 'better')
    """
    if before is None or after is None:
        return None
    if (before >= pass_score) != (after >= pass_score):
        return Outcome.FIXED if after >= pass_score else Outcome.BROKEN
    if before == after:
        return Outcome.UNCHANGED
    return Outcome.BETTER if after > before else Outcome.WORSE

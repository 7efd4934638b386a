"""What became better or worse on a group of tests, and whether that is more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import stdev

from poor_bench.comparison.compared_test import ComparedTest, Outcome
from poor_bench.comparison.obstacle import Obstacle
from poor_bench.statistics.intervals import Estimate, paired_interval
from poor_bench.statistics.significance import holm, needed_tests, smallest_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedGroup:
    """Tests that both sides have scored: all of an LLM, those of a class, or of one change."""

    tests: tuple[ComparedTest, ...]
    class_id: str | None = None
    """None where it spans all classes."""
    changes: tuple[Obstacle, ...] = ()
    """What changed on all of these tests; empty where like is compared with like."""
    mean_before: float
    mean_after: float
    difference: Estimate
    """Mean of the tests' differences, after minus before, with its own 95 % interval."""
    p_value: float = 1.0
    """Of this group alone (sign-flip permutation test)."""
    p_adjusted: float = 1.0
    """Valid for all groups of its kind together (Holm)."""

    def count(self, outcome: Outcome) -> int:
        """Return how many tests had an outcome."""
        return Counter(test.outcome for test in self.tests)[outcome]

    def with_outcome(self, *outcomes: Outcome) -> list[ComparedTest]:
        """Return the tests of some outcomes, the greatest difference first."""
        chosen = [test for test in self.tests if test.outcome in outcomes]
        return sorted(chosen, key=lambda test: -abs(test.difference))

    def is_real(self, alpha: float = 0.05) -> bool:
        """Return whether the difference is established, given all that was compared."""
        return self.p_adjusted < alpha

    @property
    def needed_tests(self) -> int | None:
        """On how many tests a difference of this size would probably show; None for no size."""
        return needed_tests(self.difference.value, self._deviation)

    @property
    def smallest_difference(self) -> float:
        """The smallest difference that this many tests probably show, at least 0.0."""
        return smallest_difference(len(self.tests), self._deviation)

    @property
    def _deviation(self) -> float:
        """Standard deviation of the tests' differences; of a single test the worst case."""
        differences = [test.difference for test in self.tests]
        return stdev(differences) if len(differences) > 1 else 1.0


def group_of(
    tests: Sequence[ComparedTest],
    *,
    class_id: str | None = None,
    changes: tuple[Obstacle, ...] = (),
) -> ComparedGroup:
    """Return the figures of some tests, p-values left out.

    Args:
        tests: At least one; all scored on both sides.
        class_id: The class that all of them are of, if they are chosen by class.
        changes: What changed on all of them, if they are chosen by that.

    Raises:
        ValueError: If there is no test.
    """
    difference = paired_interval([test.difference for test in tests])
    return ComparedGroup(
        tests=tuple(tests),
        class_id=class_id,
        changes=changes,
        mean_before=sum(test.before or 0.0 for test in tests) / len(tests),
        mean_after=sum(test.after or 0.0 for test in tests) / len(tests),
        difference=difference,
    )


def with_p_values(groups: Sequence[ComparedGroup], *, seed: int = 0) -> list[ComparedGroup]:
    """Return groups with p-values, adjusted for all of them together.

    Args:
        groups: Groups of one kind, of any LLMs.
        seed: Of the sign patterns that are drawn for large groups.
    """
    import numpy as np

    from poor_bench.statistics.significance import sign_flip_p_values

    if not groups:
        return []
    rows = max(len(group.tests) for group in groups)
    differences = np.zeros((rows, len(groups)))
    for column, group in enumerate(groups):
        differences[: len(group.tests), column] = [test.difference for test in group.tests]
    p_values = sign_flip_p_values(differences, seed=seed).tolist()
    return [
        replace(group, p_value=p_value, p_adjusted=p_adjusted)
        for group, p_value, p_adjusted in zip(groups, p_values, holm(p_values), strict=True)
    ]

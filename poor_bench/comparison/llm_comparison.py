"""What the comparison of one LLM at two times, or of two LLMs, comes to."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.comparison.compared_group import ComparedGroup
from poor_bench.comparison.compared_test import ComparedTest, Outcome
from poor_bench.comparison.obstacle import Obstacle
from poor_bench.comparison.times import TimeVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMComparison:
    """One LLM at two times, or two LLMs."""

    llm_before: str
    llm_after: str
    tests: tuple[ComparedTest, ...]
    """Every test with a result on either side."""
    allowed: frozenset[Obstacle]
    """Changes despite which tests count as comparable."""
    overall: ComparedGroup | None
    """The comparable tests; None where there are none."""
    by_class: tuple[ComparedGroup, ...]
    """The same tests, by class."""
    by_change: tuple[ComparedGroup, ...]
    """Tests that are not in `overall`, by what changed: prompt, parameters, model. They show what
    the change did. Tests whose evaluator changed are in none, unless both sides hold the same
    answers: only then the difference is what the evaluator did."""
    times: TimeVerdict
    """Of the comparable tests."""

    def not_comparable(self, class_id: str | None = None) -> dict[tuple[Obstacle, ...], list[str]]:
        """Return the ids of the tests that are not in `overall` by the reasons, most first.

        Args:
            class_id: Leaves out the tests of other classes.
        """
        grouped: dict[tuple[Obstacle, ...], list[str]] = {}
        for test in self.tests:
            if class_id in {None, test.class_id} and not test.is_comparable(self.allowed):
                grouped.setdefault(test.obstacles, []).append(test.test_id)
        return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))

    def with_outcome(self, *outcomes: Outcome) -> list[ComparedTest]:
        """Return the comparable tests of some outcomes, the greatest difference first."""
        return self.overall.with_outcome(*outcomes) if self.overall else []

    def despite_changes(self) -> dict[Obstacle, int]:
        """Return how many tests of `overall` were compared despite each allowed change."""
        tests = self.overall.tests if self.overall else ()
        counts = {change: sum(change in test.obstacles for test in tests) for change in Obstacle}
        return {change: count for change, count in counts.items() if count}

    @property
    def n_unverified(self) -> int:
        """Tests in `overall` whose results do not tell whether prompt or evaluator changed."""
        return sum(not test.is_verified for test in self.overall.tests) if self.overall else 0

"""What gates are checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from poor_bench.comparison.llm_comparison import LLMComparison
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The LLMs and tests that are checked, and what is known of them."""

    llms: Sequence[LLM]
    tests: Mapping[str, Test]
    """By test id."""
    results: Mapping[str, Sequence[Result]]
    """LLM id to its results of these tests, failures included."""
    n_stale: Mapping[str, int] = field(default_factory=dict)
    """LLM id to the number of results that are out of date."""
    comparisons: Mapping[str, Mapping[str, LLMComparison]] = field(default_factory=dict)
    """Baseline to LLM id to what became of the LLM since."""
    named: frozenset[str] = frozenset()
    """Ids of LLMs that were asked for by name, and so must have results."""
    pass_score: float = 1.0

    def classes(self) -> list[str]:
        """Return the ids of the tests' classes, in the order of the tests."""
        return list(dict.fromkeys(test.class_id for test in self.tests.values()))

    def part(self, llm_id: str, class_id: str | None) -> Part:
        """Return what is known of one LLM on all tests, or on those of a class."""
        test_ids = {
            test_id
            for test_id, test in self.tests.items()
            if class_id is None or test.class_id == class_id
        }
        results = [result for result in self.results.get(llm_id, ()) if result.test_id in test_ids]
        return Part(llm_id=llm_id, class_id=class_id, n_tests=len(test_ids), results=results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One LLM on all tests, or on those of a class."""

    llm_id: str
    class_id: str | None
    n_tests: int
    results: Sequence[Result]

    @property
    def scored(self) -> list[Result]:
        """The results with a score."""
        return [result for result in self.results if result.score is not None]

    @property
    def n_untold(self) -> int:
        """Scored results that do not tell what was asked or how they were scored."""
        return sum(
            not (result.request_fingerprint and result.evaluator_fingerprint)
            for result in self.scored
        )

    @property
    def n_pending(self) -> int:
        """Tests without any result."""
        return self.n_tests - len({result.test_id for result in self.results})

    def scores_by_test(self) -> dict[str, list[float]]:
        """Return the scores of each test's scored trials."""
        scores: dict[str, list[float]] = {}
        for result in self.scored:
            scores.setdefault(result.test_id, []).append(result.score or 0.0)
        return scores

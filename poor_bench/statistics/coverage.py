"""On how many of the tests that any LLM was scored on each LLM was scored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.models.result import Result

COMPARABLE_SHARE = 0.9
"""Least share of the tests with which a mean score stands in a ranking.

The tests that are missing move a mean by at most their share.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """On how many tests an LLM was scored."""

    n_tests: int
    n_all: int
    """Tests that any of the LLMs was scored on."""

    @property
    def is_comparable(self) -> bool:
        """True if the mean score may stand in a ranking with those of the other LLMs."""
        return self.n_tests == 0 or self.n_tests >= COMPARABLE_SHARE * self.n_all

    @property
    def text(self) -> str:
        """What screens say, such as `scored on 32 of 64 tests; not comparable`."""
        seen = f"scored on {self.n_tests:,} of {self.n_all:,} tests"
        return seen if self.is_comparable else f"{seen}; not comparable"

    def as_dict(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "n_tests": self.n_tests,
            "n_all": self.n_all,
            "is_comparable": self.is_comparable,
        }


def coverages(tests_of: Mapping[str, Collection[str]]) -> dict[str, Coverage]:
    """Return the coverage of each LLM.

    Args:
        tests_of: LLM id to the ids of the tests that it was scored on.

    Example:
        >>> both = coverages({"a": {"t1", "t2"}, "b": {"t2"}})
        >>> both["b"].text, both["a"].is_comparable
        ('scored on 1 of 2 tests; not comparable', True)
    """
    n_all = len(set().union(*tests_of.values()))
    return {llm_id: Coverage(n_tests=len(ids), n_all=n_all) for llm_id, ids in tests_of.items()}


def coverages_of(results: Iterable[Result]) -> dict[str, Coverage]:
    """Return the coverage of each LLM that has a result, failures included."""
    tests_of: dict[str, set[str]] = {}
    for result in results:
        tests = tests_of.setdefault(result.llm_id, set())
        if result.score is not None:
            tests.add(result.test_id)
    return coverages(tests_of)

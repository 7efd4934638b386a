"""Scores of tests out of the results of an LLM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poor_bench.dashboard.services.found import Found
    from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class TestScore:
    """Mean score of one test."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    score: float | None
    """Mean over trials, 0.0 to 1.0; None where no trial could be run."""
    n_trials: int
    """Scored trials."""


def scores_of_tests(
    found: Found, tests: Mapping[str, Test], start: int, count: int
) -> tuple[list[TestScore], int]:
    """Return some of the tests that were found, in the order of their file.

    Args:
        found: Results of one LLM.
        tests: Test id to test, in the order of their file; others come last.
        start: Number of the first test wanted, from 0.
        count: How many tests are wanted at most.

    Returns:
        The tests, and how many there are altogether.
    """
    import numpy as np

    table = found.table
    codes = table.codes["test_id"][found.rows]
    scores = table.numbers["score"][found.rows]
    known, numbers = np.unique(codes, return_inverse=True)
    is_scored = ~np.isnan(scores)
    n_trials = np.bincount(numbers[is_scored], minlength=len(known))
    sums = np.bincount(numbers[is_scored], weights=scores[is_scored], minlength=len(known))
    test_ids = [table.values["test_id"][code] for code in known]
    order = {test_id: place for place, test_id in enumerate(tests)}
    places = [order.get(test_id, len(order)) for test_id in test_ids]
    wanted = np.argsort(places, kind="stable")[start : start + count]
    return [
        _test_score(test_ids[index], tests, sums[index], n_trials[index]) for index in wanted
    ], len(known)


def _test_score(
    test_id: str, tests: Mapping[str, Test], score_sum: float, n_trials: int
) -> TestScore:
    test = tests.get(test_id)
    return TestScore(
        test_id=test_id,
        class_id=test.class_id if test else "",
        score=float(score_sum / n_trials) if n_trials else None,
        n_trials=int(n_trials),
    )

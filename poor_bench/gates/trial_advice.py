"""Trials that decide about a drop, planned from what is stored of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from poor_bench.comparison.compared_tests import ComparedTest
from poor_bench.models.result import Result
from poor_bench.statistics.non_inferiority import (
    TrialPlan,
    Trials,
    VarianceSource,
    estimate_trial_variance,
    gather_trials,
)


def gather_sides(tests: Sequence[ComparedTest]) -> tuple[Trials, Trials]:
    """Gather the trials of the baseline, and those that it does not have."""
    return (
        gather_trials([test.scores_before for test in tests]),
        gather_trials([test.scores_after for test in tests]),
    )


def plan_against_baseline(
    tests: Sequence[ComparedTest], tolerance: float
) -> tuple[TrialPlan, VarianceSource]:
    """Plan trials that are compared with the stored baseline.

    Args:
        tests: Comparable tests, at least one.
        tolerance: Accepted drop of the mean score, above 0.0.
    """
    before, after = gather_sides(tests)
    variance = estimate_trial_variance(before, after)
    plan = TrialPlan(
        n_tests=len(tests),
        variance=variance.value,
        tolerance=tolerance,
        mean=_bound_mean(float(before.mean.mean())),
        n_before=len(tests) / sum(1 / len(test.scores_before) for test in tests),
    )
    return plan, variance.source


def plan_without_baseline(
    test_ids: Sequence[str], results: Sequence[Result], tolerance: float
) -> tuple[TrialPlan, VarianceSource]:
    """Plan a baseline and as many trials that are compared with it.

    Args:
        test_ids: At least one.
        results: Of one LLM; their scatter is what is known.
        tolerance: Accepted drop of the mean score, above 0.0.
    """
    scores: dict[str, list[float]] = {test_id: [] for test_id in test_ids}
    for result in results:
        if result.score is not None and result.test_id in scores:
            scores[result.test_id].append(result.score)
    nothing: list[list[float]] = [[] for _ in scores]
    variance = estimate_trial_variance(gather_trials(list(scores.values())), gather_trials(nothing))
    means = [fmean(values) for values in scores.values() if values]
    plan = TrialPlan(
        n_tests=len(scores),
        variance=variance.value,
        tolerance=tolerance,
        mean=_bound_mean(fmean(means)) if means else 1.0,
    )
    return plan, variance.source


def _bound_mean(mean: float) -> float:
    """Keep a mean score away from 0.0, from where nothing can drop."""
    return max(mean, 0.001)

"""The score of each LLM with test classes as strata."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.estimate import Estimate
from poor_bench.statistics.stratified import stratified_mean


def stratified_scores(
    results: Iterable[Result], tests: Mapping[str, Test], *, classes_weigh_alike: bool = False
) -> dict[str, Estimate]:
    """Return each LLM's mean score with an interval that the choice of classes does not widen.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        tests: By id, for the class; tests that are not known are a class of their own.
        classes_weigh_alike: Whether every class weighs the same; otherwise each weighs as many
            tests as it has, which leaves the mean as it is.

    Returns:
        LLM id to mean over classes, in order of first appearance.

    Source:
        `stratified_mean`; trials of one test are averaged first.
    """
    trials: dict[str, dict[str, dict[str, list[float]]]] = {}
    for result in results:
        if result.score is not None:
            test = tests.get(result.test_id)
            classes = trials.setdefault(result.llm_id, defaultdict(lambda: defaultdict(list)))
            classes[test.class_id if test else ""][result.test_id].append(result.score)
    return {
        llm_id: _stratified(classes, classes_weigh_alike=classes_weigh_alike)
        for llm_id, classes in trials.items()
    }


def _stratified(
    classes: Mapping[str, Mapping[str, list[float]]], *, classes_weigh_alike: bool
) -> Estimate:
    scores = {
        class_id: [sum(values) / len(values) for values in of_class.values()]
        for class_id, of_class in classes.items()
    }
    return stratified_mean(scores, dict.fromkeys(scores, 1.0) if classes_weigh_alike else None)

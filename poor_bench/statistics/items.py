"""Item analysis: which tests are bad, as the results of all LLMs show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.correlation import row_correlations
from poor_bench.statistics.estimate import Estimate
from poor_bench.statistics.failing_alike import failing_alike
from poor_bench.statistics.item import Alike, Item, ItemFinding
from poor_bench.statistics.model_of import model_of
from poor_bench.statistics.score_table import ScoreTable, score_table

LEAST_MODELS = 3
"""Different models that a verdict on a test needs."""


def analyse_items(
    results: Iterable[Result], tests: Mapping[str, Test] | None = None, *, pass_score: float = 1.0
) -> list[Item]:
    """Return what the results of all LLMs say about each test.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        tests: Test id to test, for class and declared level.
        pass_score: From which score on a trial is passed.

    Returns:
        One item per test with a scored trial, in order of first appearance. Verdicts on a test
        need 3 different models.

    Source:
        Difficulty and corrected item-total correlation: Crocker and Algina 1986, "Introduction to
        Classical and Modern Test Theory", chapter 14.

    Example:
        >>> trials = [Result(llm_id=llm, test_id="t", score=0.0, got="7") for llm in "abc"]
        >>> [item] = analyse_items(trials)
        >>> [finding.value for finding in item.findings], item.alike.text
        (['nobody_passes', 'all_fail_alike'], '7')
    """
    kept = [result for result in results if result.score is not None]
    by_test: dict[str, list[Result]] = {}
    for result in kept:
        by_test.setdefault(result.test_id, []).append(result)
    discriminations = _discriminations(score_table(kept))
    known = tests or {}
    return [
        _item_of(trials, known.get(test_id), discriminations[test_id], pass_score)
        for test_id, trials in by_test.items()
    ]


def _discriminations(table: ScoreTable) -> dict[str, Estimate | None]:
    import numpy as np

    counts = (~np.isnan(table.scores)).sum(axis=0)
    others = np.where(counts > 1, counts - 1, np.nan)
    elsewhere = (np.nansum(table.scores, axis=0) - table.scores) / others
    correlations = row_correlations(table.scores, elsewhere)
    return dict(zip(table.test_ids, correlations, strict=True))


def _item_of(
    trials: list[Result], test: Test | None, discrimination: Estimate | None, pass_score: float
) -> Item:
    scores: dict[str, list[float]] = {}
    for result in trials:
        scores.setdefault(result.llm_id, []).append(result.score or 0.0)
    means = [sum(values) / len(values) for values in scores.values()]
    passed = [
        sum(value >= pass_score for value in values) / len(values) for values in scores.values()
    ]
    alike = failing_alike(result for result in trials if (result.score or 0.0) < pass_score)
    pass_rate = sum(passed) / len(passed)
    n_models = len({model_of(result) for result in trials})
    return Item(
        test_id=trials[0].test_id,
        class_id=test.class_id if test else "",
        level=test.level if test else 0,
        n_llms=len(scores),
        n_models=n_models,
        mean_score=sum(means) / len(means),
        pass_rate=pass_rate,
        discrimination=discrimination,
        alike=alike,
        findings=_findings(n_models, pass_rate, discrimination, alike),
    )


def _findings(
    n_models: int, pass_rate: float, discrimination: Estimate | None, alike: Alike | None
) -> tuple[ItemFinding, ...]:
    if n_models < LEAST_MODELS:
        return ()
    verdicts = {
        ItemFinding.NOBODY_PASSES: pass_rate == 0.0,
        ItemFinding.EVERYBODY_PASSES: pass_rate == 1.0,
        ItemFinding.ALL_FAIL_ALIKE: alike is not None,
        ItemFinding.FAVOURS_THE_WEAK: discrimination is not None and discrimination.high < 0,
    }
    return tuple(finding for finding, holds in verdicts.items() if holds)

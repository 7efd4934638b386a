"""Repeated trials of one test: pass@k, pass^k and the flip rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from statistics import multimode

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.groups import groups_of
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that at least one of `k` fresh trials passes (pass@k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.

    Example:
        >>> pass_at_k(successes=1, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that all of `k` fresh trials pass (pass^k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Yao et al. 2024, "tau-bench", arXiv:2406.12045.

    Example:
        >>> pass_hat_k(successes=3, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return comb(successes, k) / comb(trials, k)


def flip_rate(successes: int, trials: int) -> float:
    """Estimate the chance that two fresh trials of one test end differently.

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score, at least 2.

    Returns:
        An unbiased estimate; 0.0 where all trials agree, around 0.5 at a coin's toss, and 1.0 for
        one pass in two trials.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Simpson 1949, "Measurement of diversity", Nature 163: one minus the unbiased chance that
        two draws without replacement agree.

    Example:
        >>> flip_rate(successes=2, trials=4) == 2 / 3
        True
    """
    _check(successes, trials, 2)
    return successes * (trials - successes) / comb(trials, 2)


def _check(successes: int, trials: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be from 0 to {trials} (trials), not {successes}")
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials: there must be 1 to {trials}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Reliability of one LLM over the tests with at least `k` scored trials."""

    llm_id: str
    k: int
    pass_at_k: Estimate
    """Chance that at least one of k trials passes, mean over tests."""
    pass_hat_k: Estimate
    """Chance that all of k trials pass, mean over tests."""
    flip_rate: Estimate
    """Chance that two trials of one test end differently, mean over tests."""


def reliability(
    results: Iterable[Result],
    *,
    k: int = 2,
    pass_score: float = 1.0,
    tests: Mapping[str, Test] | None = None,
) -> list[Reliability]:
    """Compute pass@k, pass^k and the flip rate of every LLM with enough trials.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        k: Number of trials in question, at least 2.
        pass_score: From which score on a trial is passed.
        tests: By id, for their groups.

    Returns:
        One row per LLM that has a test with `k` scored trials, in order of first appearance.

    Raises:
        ValueError: If `k < 2`.

    Source:
        See `poor_bench.statistics.repeats`; intervals as of `mean_score`, the test as unit.

    Example:
        >>> trials = [Result(llm_id="a", test_id="t", trial=n, score=n % 2) for n in range(1, 5)]
        >>> [row] = reliability(trials)
        >>> round(row.pass_at_k.value, 3), round(row.pass_hat_k.value, 3)
        (0.833, 0.167)
    """
    if k < 2:
        raise ValueError(f"k must be at least 2, not {k}")
    rows = []
    for llm_id, of_llm in _count(results, pass_score).items():
        counts = {test_id: count for test_id, count in of_llm.items() if count[1] >= k}
        if counts:
            groups = groups_of(counts, tests or {})
            rows.append(_compute_reliability(llm_id, list(counts.values()), k, groups))
    return rows


def usual_trials(results: Iterable[Result]) -> int:
    """Find the usual number of trials of repeated tests; 0 if no test was repeated.

    Args:
        results: Scored and failed trials in any order; failures are left out.

    Returns:
        The most frequent number of scored trials of a test, the highest of several.

    Example:
        >>> usual_trials(Result(llm_id="a", test_id="t", trial=n, score=1) for n in range(1, 4))
        3
    """
    repeated = [
        trials
        for tests in _count(results, pass_score=1.0).values()
        for _, trials in tests.values()
        if trials > 1
    ]
    return max(multimode(repeated), default=0)


def _count(results: Iterable[Result], pass_score: float) -> dict[str, dict[str, tuple[int, int]]]:
    """Count the passed and the scored trials per LLM and test."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for result in results:
        if result.score is not None:
            tests = counts.setdefault(result.llm_id, {})
            passed, trials = tests.get(result.test_id, (0, 0))
            tests[result.test_id] = passed + (result.score >= pass_score), trials + 1
    return counts


def _compute_reliability(
    llm_id: str, counts: list[tuple[int, int]], k: int, groups: list[str | None] | None
) -> Reliability:
    return Reliability(
        llm_id=llm_id,
        k=k,
        pass_at_k=mean_score([pass_at_k(passed, trials, k) for passed, trials in counts], groups),
        pass_hat_k=mean_score([pass_hat_k(passed, trials, k) for passed, trials in counts], groups),
        flip_rate=mean_score([flip_rate(passed, trials) for passed, trials in counts], groups),
    )

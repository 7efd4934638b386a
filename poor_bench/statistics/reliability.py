"""How reliable each LLM is where tests were tried several times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import multimode

from poor_bench.models.result import Result
from poor_bench.statistics.estimate import Estimate
from poor_bench.statistics.mean_score import mean_score
from poor_bench.statistics.repeats import flip_rate, pass_at_k, pass_hat_k


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
    results: Iterable[Result], *, k: int = 2, pass_score: float = 1.0
) -> list[Reliability]:
    """Return pass@k, pass^k and the flip rate of every LLM that was tried often enough.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        k: Number of trials in question, at least 2.
        pass_score: From which score on a trial is passed.

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
    for llm_id, tests in _count(results, pass_score).items():
        counts = [(passed, trials) for passed, trials in tests.values() if trials >= k]
        if counts:
            rows.append(_reliability_of(llm_id, counts, k))
    return rows


def usual_trials(results: Iterable[Result]) -> int:
    """Return how often tests were tried, of those tried more than once; 0 where none was.

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
    """Return the passed and the scored trials per LLM and test."""
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for result in results:
        if result.score is not None:
            tests = counts.setdefault(result.llm_id, {})
            passed, trials = tests.get(result.test_id, (0, 0))
            tests[result.test_id] = passed + (result.score >= pass_score), trials + 1
    return counts


def _reliability_of(llm_id: str, counts: list[tuple[int, int]], k: int) -> Reliability:
    return Reliability(
        llm_id=llm_id,
        k=k,
        pass_at_k=mean_score([pass_at_k(passed, trials, k) for passed, trials in counts]),
        pass_hat_k=mean_score([pass_hat_k(passed, trials, k) for passed, trials in counts]),
        flip_rate=mean_score([flip_rate(passed, trials) for passed, trials in counts]),
    )

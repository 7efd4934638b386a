"""The mean of scores with an interval that holds for few tests, too."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poor_bench.statistics.estimate import Estimate
from poor_bench.statistics.quantiles import Z_95, t_quantile_95
from poor_bench.statistics.wilson import wilson_interval


def mean_score(test_scores: Sequence[float]) -> Estimate:
    """Return the mean of the tests' scores with its 95 % interval.

    The unit is the test. Where a test was tried several times, pass the mean of its trials: trials
    of one test are alike, so counting each as an observation of its own would promise more than is
    known. With one value per test the interval is robust against that.

    The interval is Wilson's with an effective number of observations. Scores that are all 0 or 1
    give exactly Wilson's interval. Others vary less than a coin with the same mean would; the
    effective number says by how much, and Student's quantile pays for having estimated that from
    the scores. In simulation this covers 92 % to 99 % at 5 tests and about 95 % from 30 tests on,
    where the mean plus and minus `t` standard errors covers as little as 41 % at 5 tests.

    Args:
        test_scores: One score per test, each 0.0 to 1.0, at least one.

    Returns:
        Mean and interval, all within 0.0 to 1.0; `n` is the number of tests.

    Raises:
        ValueError: If there is no score, or one is out of range.

    Source:
        Effective number: Korn and Graubard 1998, Survey Methodology 24, and Dean and Pagano 2015,
        Journal of Survey Statistics and Methodology 3. The test as unit: Miller 2024, "Adding
        Error Bars to Evals", arXiv:2411.00640.

    Example:
        >>> estimate = mean_score([1.0, 1.0, 0.5, 0.0])
        >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
        (0.625, 0.12, 0.95)
    """
    n = len(test_scores)
    if n == 0:
        raise ValueError("a mean needs at least one score")
    if not all(0 <= score <= 1 for score in test_scores):
        raise ValueError("scores must be from 0 to 1")
    mean = min(1.0, math.fsum(test_scores) / n)
    low, high = wilson_interval(mean, *_effective_number(test_scores, mean))
    return Estimate(value=mean, low=low, high=high, n=n)


def _effective_number(scores: Sequence[float], mean: float) -> tuple[float, float]:
    """Return the effective number of observations and the quantile that goes with it."""
    n = len(scores)
    if all(score in {0.0, 1.0} for score in scores):
        return n, Z_95
    squares = math.fsum((score - mean) ** 2 for score in scores)
    if squares < 1e-12 * n:  # all alike: assume no more than that they lie between 0 and 1
        return n, Z_95
    return mean * (1 - mean) * n * (n - 1) / squares, t_quantile_95(n - 1)

"""Mean scores, plain and over test classes, with 95 % intervals that hold for few tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from poor_bench.statistics.groups import (
    Spread,
    Sums,
    measure_spread,
    number_groups,
    sum_values,
    weigh_few_groups,
)
from poor_bench.statistics.intervals import (
    Estimate,
    estimate_by_groups,
    guard_against_unseen,
    mid_p_interval,
    stretch_by_skew,
    t_quantile_95,
    wilson_interval,
)


def mean_score(
    test_scores: Sequence[float], groups: Sequence[str | None] | None = None
) -> Estimate:
    """Compute the mean of the tests' scores with its 95 % confidence interval.

    The unit is the test. Where a test was tried several times, pass the mean of its trials: trials
    of one test are alike, so counting each as an observation of its own would promise more than is
    known. Tests of one group are alike, too, and count by their groups.

    Scores of independent tests that are all 0 or 1 give the exact binomial interval
    (`mid_p_interval`). Others give Wilson's with an effective number of observations: they vary
    less than a coin with the same mean would, and the number says by how much. Student's quantile
    pays for having estimated that. Two corrections follow: `stretch_by_skew` for scores that are
    nearly all close to 0 or 1, and `guard_against_unseen` below 30 tests.

    From 10 tests on the interval covers 93 % or more in 172 of 175 cells that
    `benchmarks/statistics/intervals.py` simulates, and in 96 % of the random ones. It is at most
    1.15 times as wide as one that knows the distribution in 67 of 70, and up to 1.5 times where 30
    tests score one of two low values. It covers as little as 76 % where one test in 20 scores
    far from all the others, and 30 tests may have missed it. With 10 to 22 groups (`clusters.py`)
    it covers 93 % to 97 % in 83 % of 180 simulated cases that took no part in its choice, and less
    in 9 %. The lowest two, drawn anew, cover 90 %: fractional scores of groups that are nearly all
    good. There samples with two bad groups or more by chance set the upper limit too low.
    An interval that knows the distribution of the mean does not reach
    93 % to 97 % everywhere either, because ten groups give few different means. Below 30 groups it
    leans on `compute_few_groups_interval`: ten groups often miss the bad ones.

    Args:
        test_scores: One score per test, each 0.0 to 1.0, at least one.
        groups: Group of each test, as in `number_groups`; tests of one group are not independent.

    Returns:
        Mean and interval, all within 0.0 to 1.0; `n` is the number of groups.

    Raises:
        ValueError: If no score is given, one is out of range, or `groups` has another length.

    Source:
        Effective number: Korn and Graubard 1998, Survey Methodology 24, and Dean and Pagano 2015,
        Journal of Survey Statistics and Methodology 3. The test as unit: Miller 2024, "Adding
        Error Bars to Evals", arXiv:2411.00640.

    Example:
        >>> estimate = mean_score([1.0, 1.0, 0.5, 0.0])
        >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
        (0.625, 0.12, 0.95)
    """
    _check(test_scores)
    return estimate_mean(sum_values(test_scores, groups))


def estimate_mean(sums: Sums) -> Estimate:
    """Compute what `mean_score` does from the sums of scores, each 0.0 to 1.0."""
    n = sums.n_tests
    if sums.is_whole and sums.n_groups == n:
        limits = mid_p_interval(round(sums.mean * n), n)
    else:
        limits = _find_limits(measure_spread(sums))
        limits = weigh_few_groups(limits, sums)
    return estimate_by_groups(
        sums.mean, limits, n_groups=sums.n_groups, n_tests=n, bounds=(0.0, 1.0)
    )


def _check(scores: Sequence[float]) -> None:
    if not scores:
        raise ValueError("a mean needs at least one score")
    if not (min(scores) >= 0 and max(scores) <= 1) or math.isnan(sum(scores)):
        raise ValueError("scores must be from 0 to 1")


def _find_limits(spread: Spread) -> tuple[float, float]:
    mean, n = spread.mean, spread.n_effective
    binary = mean * (1 - mean)
    if spread.variance <= 1e-12 * binary:
        return guard_against_unseen((mean, mean), mean, n, all_alike=True)
    limits = wilson_interval(mean, binary / spread.variance, t_quantile_95(spread.freedom))
    share = min(1.0, n * spread.variance / binary)
    limits = stretch_by_skew(limits, mean, _expect_skew(mean, share) / math.sqrt(n))
    return guard_against_unseen(limits, mean, n)


def _expect_skew(mean: float, share: float) -> float:
    """Compute the skewness that scores of this mean and variance have if they follow a beta law.

    It varies less from sample to sample than the third moment does. Scores that vary nearly as
    much as a coin need no correction, because Wilson's interval has it already.

    Args:
        mean: Between 0 and 1.
        share: Variance as a share of that of a coin with the same mean, above 0 to 1.
    """
    skew = 2 * (1 - 2 * mean) * math.sqrt(share) / ((1 + share) * math.sqrt(mean * (1 - mean)))
    return skew * (1 - share) ** 2


def estimate_stratified_mean(
    scores_by_class: Mapping[str, Sequence[float]],
    weights: Mapping[str, float] | None = None,
    groups_by_class: Mapping[str, Sequence[str | None]] | None = None,
) -> Estimate:
    """Compute the weighted mean of the classes' mean scores with its 95 % confidence interval.

    Differences between classes are not uncertainty, because the classes were chosen. So the
    interval is narrower than that of the plain mean where the classes' scores differ, and about as
    wide where they are alike (`benchmarks/statistics/stratified.py`).

    Each class's variance is drawn towards that of all classes by the weight of one test, so that
    few tests that all agree do not claim certainty.

    Args:
        scores_by_class: Class to its tests' scores, each 0.0 to 1.0, at least one per class.
        weights: Class to its weight, at least 0 and not all 0; by default each class weighs as
            many tests as it has. Equal weights answer "how good is it at my kinds of task".
        groups_by_class: Class to its tests' groups, as in `number_groups`.

    Returns:
        Mean and interval within 0.0 to 1.0; `n` is the number of tests.

    Raises:
        ValueError: If no class is given, a class has no weight, or a number is out of range.

    Source:
        Cochran 1977, "Sampling Techniques", 5.3; Wilson's limits with an effective number: Dean
        and Pagano 2015, Journal of Survey Statistics and Methodology 3.

    Example:
        >>> scores = {"maths": [1.0, 1.0], "code": [0.0]}
        >>> estimate = estimate_stratified_mean(scores, weights={"maths": 1, "code": 1})
        >>> estimate.value, estimate.n
        (0.5, 3)
    """
    if weights is None:
        weights = {name: len(scores) for name, scores in scores_by_class.items()}
    shares = _compute_shares(weights, scores_by_class)
    groups = groups_by_class or {}
    if len(scores_by_class) == 1:
        [(name, scores)] = scores_by_class.items()
        return mean_score(scores, groups.get(name))
    for scores in scores_by_class.values():
        _check(scores)
    n_tests = sum(map(len, scores_by_class.values()))
    spread = _pool_classes(scores_by_class, shares, groups)
    return estimate_by_groups(
        spread.mean,
        _find_limits(spread),
        n_groups=spread.n_groups,
        n_tests=n_tests,
        bounds=(0.0, 1.0),
    )


def _pool_classes(
    scores_by_class: Mapping[str, Sequence[float]],
    shares: Mapping[str, float],
    groups: Mapping[str, Sequence[str | None]],
) -> Spread:
    parts = {
        name: measure_spread(sum_values(scores, groups.get(name)))
        for name, scores in scores_by_class.items()
    }
    mean = min(1.0, math.fsum(shares[name] * part.mean for name, part in parts.items()))
    left = math.fsum(part.n_effective - 1 for part in parts.values())
    squares = math.fsum(
        part.variance * part.n_effective * (part.n_effective - 1) for part in parts.values()
    )
    usual = (squares + mean * (1 - mean)) / (left + 1)
    variance = precision = doubt = 0.0
    for name, part in parts.items():
        n, weight = part.n_effective, shares[name] ** 2 / part.n_effective
        variance += weight * ((n - 1) * n * part.variance + usual) / n
        precision += weight
        doubt += weight**2 / n
    freedom = precision**2 / doubt
    n_groups, across = _sum_across_classes(scores_by_class, shares, groups)
    if n_groups < sum(part.n_groups for part in parts.values()):
        variance = max(variance, across)
        freedom = min(freedom, n_groups - 1)
    return Spread(
        mean=mean,
        variance=variance,
        freedom=max(1.0, freedom),
        skew=0.0,
        n_groups=n_groups,
        n_effective=min(1 / precision, float(sum(map(len, scores_by_class.values())))),
    )


def _sum_across_classes(
    scores_by_class: Mapping[str, Sequence[float]],
    shares: Mapping[str, float],
    groups: Mapping[str, Sequence[str | None]],
) -> tuple[int, float]:
    """Count the groups over all classes, and compute the variance if some span classes."""
    names: list[str | None] = []
    parts: list[float] = []
    for class_id, scores in scores_by_class.items():
        n = len(scores)
        mean = math.fsum(scores) / n
        names += groups.get(class_id) or [None] * n
        parts += [shares[class_id] / n * (score - mean) for score in scores]
    units = number_groups(len(parts), names)
    excesses = [0.0] * (max(units) + 1)
    for unit, part in zip(units, parts, strict=True):
        excesses[unit] += part
    n_groups = len(excesses)
    squares = math.fsum(excess**2 for excess in excesses)
    return n_groups, squares * n_groups / max(1, n_groups - 1)


def _compute_shares(
    weights: Mapping[str, float], scores_by_class: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    missing = sorted(scores_by_class.keys() - weights.keys())
    if missing:
        raise ValueError(f"no weight for {', '.join(missing)}")
    total = math.fsum(weights[name] for name in scores_by_class)
    if not total > 0 or any(weights[name] < 0 for name in scores_by_class):
        raise ValueError("weights must be at least 0 and not all 0")
    return {name: weights[name] / total for name in scores_by_class}

"""Significance of paired differences: sign-flip test, Holm's correction, statistical power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from poor_bench.messages import write_count
from poor_bench.statistics.groups import number_groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def compute_sign_flip_p_values(
    differences: ArrayLike, *, groups: Sequence[str | None] | None = None, mid: bool = True
) -> NDArray[np.float64]:
    """Compute the chance of each column's mean difference if signs are random.

    If two LLMs are equally good, each test's difference might as well have the other sign. The
    p-value is the share of all sign patterns that give a sum farther from zero, and half the share
    of those that give one as far (mid p-value). It is computed, not drawn. With at most 6
    differences of various sizes, patterns as far count in full.

    Args:
        differences: One row per test, one column per pair of LLMs; 0 where a pair lacks a test.
        groups: Group of each row, as in `number_groups`; tests of one group keep their signs
            together.
        mid: False for the p-value that counts patterns as far in full. It never errs more often
            than it says, and finds less.

    Returns:
        Two-sided p-values, above 0 to 1, one per column; 1 where no difference is seen.

    Raises:
        ValueError: If a difference is not finite, or `groups` has another length.

    Source:
        Fisher 1935, "The Design of Experiments", section 21; mid p-value: Lancaster 1961,
        "Significance tests in discrete distributions", Journal of the American Statistical
        Association 56, and Fagerland, Lydersen and Laake 2013, "The McNemar test for binary
        matched-pairs data", BMC Medical Research Methodology 13. Errors and power, also with
        groups: `benchmarks/statistics/significance.py`.

    Example:
        >>> columns = [[1.0]] * 4 + [[0.0]]
        >>> compute_sign_flip_p_values(columns).tolist()
        [0.0625]
        >>> compute_sign_flip_p_values(columns, mid=False).tolist()
        [0.125]
    """
    import numpy as np

    from poor_bench.statistics.sign_flips import compute_tails

    columns = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(columns).all():
        raise ValueError("differences must be finite")
    if groups is not None:
        columns = _sum_groups(columns, groups)
    return compute_tails(columns, mid=mid)


def _sum_groups(columns: NDArray[np.float64], groups: Sequence[str | None]) -> NDArray[np.float64]:
    import numpy as np

    places = np.array(number_groups(len(columns), groups), dtype=np.int64)
    sums = np.zeros((int(places.max(initial=-1)) + 1, columns.shape[1]))
    np.add.at(sums, places, columns)
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values so that they hold for all comparisons together.

    Whoever calls those below 0.05 real errs in any of them with a chance of at most 5 %.

    Args:
        p_values: Each 0.0 to 1.0.

    Returns:
        Adjusted p-values in the same order, none below the original, 0.0 to 1.0.

    Raises:
        ValueError: If a p-value is out of range.

    Source:
        Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
        of Statistics 6.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("p-values must be from 0 to 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    factors = holm_factors(p_values)
    for index in sorted(range(len(p_values)), key=p_values.__getitem__):
        highest = max(highest, min(1.0, p_values[index] * factors[index]))
        adjusted[index] = highest
    return adjusted


def holm_factors(p_values: Sequence[float]) -> list[int]:
    """Compute by how much Holm's correction multiplies each p-value, at least 1.

    Divide the accepted error by it to plan for a pair among many: see `plan_evidence`.

    Example:
        >>> holm_factors([0.01, 0.04, 0.03])
        [3, 1, 2]
    """
    factors = [1] * len(p_values)
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        factors[index] = len(p_values) - place
    return factors


def benjamini_hochberg(p_values: Sequence[float], false_share: float) -> list[bool]:
    """Select the findings among which the expected share of false ones is limited.

    Args:
        p_values: Each 0.0 to 1.0; independent or positively dependent.
        false_share: Expected share of false findings among the selected, 0.0 to 1.0.

    Returns:
        True for each selected one, in the same order.

    Source:
        Benjamini and Hochberg 1995, "Controlling the false discovery rate", Journal of the Royal
        Statistical Society B 57.

    Example:
        >>> benjamini_hochberg([0.01, 0.5, 0.04], 0.1)
        [True, False, True]
    """
    ordered = sorted(p_values)
    n = len(ordered)
    passing = [p for place, p in enumerate(ordered, 1) if p <= false_share * place / n]
    limit = max(passing, default=-1.0)
    return [p <= limit for p in p_values]


_MOST = 10**9
"""More tests or trials than this do not answer the question; the difference is one of rounding."""


def select_findings(
    p_values: Sequence[float], least: float, most: float, per_share: float
) -> list[bool]:
    """Select findings as `benjamini_hochberg` does, the more freely the more there are.

    Args:
        p_values: Each 0.0 to 1.0.
        least: Share of false ones that is allowed where few are found, above 0.0.
        most: The same where many are found, up to 1.0.
        per_share: Allowed share by the share of p-values that are found with `least`.

    Example:
        >>> select_findings([0.001, 0.1, 0.1, 0.9], 0.05, 0.2, per_share=1)
        [True, True, True, False]
    """
    share = sum(benjamini_hochberg(p_values, least)) / max(1, len(p_values))
    return benjamini_hochberg(p_values, min(most, max(least, per_share * share)))


def count_needed_tests(difference: float, deviation: float, *, alpha: float = 0.05) -> int | None:
    """Compute how many common tests a difference needs to show in 80 % of cases.

    Args:
        difference: True mean score difference to be seen; the observed one is the usual guess.
        deviation: Standard deviation of the tests' differences, at least 0.
        alpha: Accepted chance of seeing a difference where there is none, between 0 and 1; divide
            it by the number of pairs where many are compared.

    Returns:
        Number of tests in all, at least 2; None where not even a thousand million are enough.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640, section 5.

    Example:
        >>> count_needed_tests(difference=0.05, deviation=0.3)
        283
    """
    wanted = _compute_wanted_ratio(deviation, alpha)
    if abs(difference) * math.sqrt(_MOST) <= wanted * deviation or difference == 0:
        return None
    return max(2, math.ceil((wanted * deviation / difference) ** 2))


def smallest_difference(n_tests: int, deviation: float, *, alpha: float = 0.05) -> float:
    """Compute the smallest mean score difference that this many common tests probably show.

    Args:
        n_tests: Common tests, at least 1.
        deviation: Standard deviation of the tests' differences, at least 0.
        alpha: As in `count_needed_tests`.

    Returns:
        A difference of mean scores, at least 0.0; above 1.0 where nothing could be shown.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        As `count_needed_tests`.

    Example:
        >>> round(smallest_difference(n_tests=61, deviation=0.3), 3)
        0.108
    """
    if n_tests < 1:
        raise ValueError(f"n_tests must be at least 1, not {n_tests}")
    return _compute_wanted_ratio(deviation, alpha) * deviation / math.sqrt(n_tests)


def count_needed_trials(
    difference: float,
    n_tests: int,
    *,
    between_variance: float,
    trial_variance: float,
    alpha: float = 0.05,
) -> int | None:
    """Compute how many trials per test a difference needs to show.

    Args:
        difference: As in `count_needed_tests`.
        n_tests: Common tests, at least 1.
        between_variance: Variance of the true differences between tests, at least 0.
        trial_variance: Variance of a difference between trials of one test, at least 0.
        alpha: As in `count_needed_tests`.

    Returns:
        Trials per test, at least 1; None where the tests are too few however often they are tried.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        As `count_needed_tests`.

    Example:
        >>> count_needed_trials(0.05, 300, between_variance=0.06, trial_variance=0.12)
        4
    """
    if n_tests < 1 or trial_variance < 0:
        raise ValueError("n_tests must be at least 1, and trial_variance at least 0")
    wanted = _compute_wanted_ratio(math.sqrt(between_variance), alpha)
    left = n_tests * (difference / wanted) ** 2 - between_variance
    return max(1, math.ceil(trial_variance / left)) if left * _MOST > trial_variance else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededEvidence:
    """What would show a difference as large as the one seen, in 80 % of cases."""

    n_tests: int
    """Common tests so far."""
    n_trials: float
    """Mean trials of a test so far, at least 1."""
    tests: int | None
    """Common tests in all; None where no number of them is enough."""
    trials: int | None
    """Trials of each of the present tests; None where these tests are too few however often they
    are tried, or where none was tried twice, so that it is not known."""

    @property
    def prefers_trials(self) -> bool:
        """True if more trials of the present tests need about as few calls as more tests.

        They can hardly need fewer: trials show less than as many new tests, unless the tests do not
        differ. At equal calls they are easier to have.
        """
        if self.trials is None or self.tests is None:
            return self.trials is not None
        return self.trials * self.n_tests <= 1.1 * self.tests * self.n_trials

    @property
    def text(self) -> str:
        """What tells with fewer calls, and the other; empty where nothing would do or is left.

        Example:
            >>> NeededEvidence(n_tests=60, n_trials=1, tests=240, trials=None).text
            'about 240 tests'
        """
        by_trials = by_tests = ""
        if self.trials is not None and self.trials > self.n_trials:
            by_trials = f"{write_count(self.trials, 'trial')} of each of these tests"
        if self.tests is not None and self.tests > self.n_tests:
            by_tests = write_count(self.tests, "test")
        if by_trials and by_tests:
            first, other = (by_trials, by_tests) if self.prefers_trials else (by_tests, by_trials)
            return f"about {first} (or {other})"
        only = by_trials or by_tests
        return f"about {only}" if only else ""


def plan_evidence(
    differences: ArrayLike, n_trials: ArrayLike, squares: ArrayLike, *, factor: int = 1
) -> NeededEvidence:
    """Plan the tests, or the trials, that show a difference as large as the one seen.

    Args:
        differences: Mean score difference of each common test, at least one.
        n_trials: Scored trials of each test (row) on both sides (two columns), each at least 1.
        squares: Sum of the squared deviations of these trials from their mean, likewise.
        factor: What Holm's correction multiplies the p-value by, see `holm_factors`: the more
            pairs are compared, the more it takes.

    Source:
        `count_needed_tests`, `count_needed_trials`. Power at the planned number:
        `benchmarks/statistics/significance.py`.

    Example:
        >>> seen = [1.0, 0.0, -1.0, 0.0, 1.0] * 4
        >>> once, none = [[1, 1]] * 20, [[0.0, 0.0]] * 20
        >>> [plan_evidence(seen, once, none, factor=factor).tests for factor in (1, 36)]
        [116, 241]
    """
    import numpy as np

    values = np.asarray(differences, dtype=np.float64)
    counts, sums = np.asarray(n_trials, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    mean, variance = float(values.mean()), float(values.var(ddof=1)) if len(values) > 1 else 1.0
    alpha, repeats, trials = 0.05 / factor, (counts - 1).sum(axis=0), None
    if repeats.all() and len(values) > 1:
        of_sides = sums.sum(axis=0) / repeats
        trials = count_needed_trials(
            mean,
            len(values),
            between_variance=max(0.0, variance - float((of_sides / counts).sum(axis=1).mean())),
            trial_variance=float(of_sides.sum()),
            alpha=alpha,
        )
    return NeededEvidence(
        n_tests=len(values),
        n_trials=float(counts.mean()),
        tests=count_needed_tests(mean, math.sqrt(variance), alpha=alpha),
        trials=trials,
    )


_POWER = 0.8


def _compute_wanted_ratio(deviation: float, alpha: float) -> float:
    """Compute how many standard errors a difference must measure to show."""
    if deviation < 0 or not 0 < alpha < 1:
        raise ValueError("deviation must be at least 0; alpha between 0 and 1")
    return NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(_POWER)

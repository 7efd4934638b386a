"""Significance of paired differences: sign-flip test, Holm's correction, statistical power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


_EXACT_UP_TO = 15
_CHUNK = 200
"""Patterns drawn at once; a multiple of 4, since 4 signs are drawn from one number of 32 bits."""


def sign_flip_p_values(
    differences: ArrayLike, *, n_flips: int = 9999, seed: int = 0
) -> NDArray[np.float64]:
    """Compute the chance of each column's mean difference if signs are random.

    If two LLMs are equally good, each test's difference might as well have the other sign. The
    p-value is the share of sign patterns that give a sum at least as far from zero: of all
    patterns where at most 15 differences are not zero, else of `n_flips` drawn ones. It is never
    above Hoeffding's bound on the exact share, so that clear differences are not held up by the
    number of patterns drawn.

    Args:
        differences: One row per test, one column per pair of LLMs; 0 where a pair lacks a test.
        n_flips: Patterns to draw, at least 1; all columns share them.
        seed: Of the random signs.

    Returns:
        Two-sided p-values, above 0 to 1, one per column; 1 where no difference is seen.

    Raises:
        ValueError: If `n_flips < 1`, or a difference is not finite.

    Source:
        Fisher 1935, "The Design of Experiments", section 21; drawn patterns: Phipson and Smyth
        2010, "Permutation p-values should never be zero", Statistical Applications in Genetics
        and Molecular Biology 9; bound: Hoeffding 1963, Journal of the American Statistical
        Association 58, theorem 2.

    Example:
        >>> sign_flip_p_values([[1.0], [1.0], [1.0], [1.0], [0.0]]).tolist()
        [0.125]
    """
    import numpy as np

    columns = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if n_flips < 1 or not np.isfinite(columns).all():
        raise ValueError("differences must be finite, and n_flips at least 1")
    few = np.count_nonzero(columns, axis=0) <= _EXACT_UP_TO
    p_values = np.ones(columns.shape[1])
    for column in np.flatnonzero(few):
        p_values[column] = _exact_p(columns[:, column])
    many = columns[:, ~few]
    p_values[~few] = np.minimum(_drawn_p(many, n_flips, seed), _hoeffding_bound(many))
    return p_values


def _exact_p(column: NDArray[np.float64]) -> float:
    import numpy as np

    values = column[column != 0]
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    tolerance = 1e-9 * np.abs(values).sum()
    return float(np.mean(np.abs(sums) >= abs(values.sum()) - tolerance))


def _drawn_p(columns: NDArray[np.float64], n_flips: int, seed: int) -> NDArray[np.float64]:
    import numpy as np

    rng = np.random.default_rng(seed)
    tolerance = 1e-5 * np.abs(columns).sum(axis=0)
    observed = np.abs(columns.sum(axis=0)) - tolerance
    single = columns.astype(np.float32)
    as_extreme = np.zeros(columns.shape[1])
    for start in range(0, n_flips, _CHUNK):
        shape = min(_CHUNK, n_flips - start), len(columns)
        signs = rng.integers(0, 2, shape, dtype=np.int8).astype(np.float32)
        signs *= 2  # in place: the array is large
        signs -= 1
        as_extreme += (np.abs(signs @ single) >= observed).sum(axis=0)
    return (as_extreme + 1) / (n_flips + 1)


def _hoeffding_bound(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    exponent = columns.sum(axis=0) ** 2 / (2 * (columns**2).sum(axis=0))
    return np.asarray(2 * np.exp(-exponent))


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
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = highest
    return adjusted


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
"""More tests or trials than this are no answer; the difference is one of rounding."""


def needed_tests(
    difference: float, deviation: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Compute how many common tests a difference needs to show.

    Args:
        difference: True mean score difference to be seen; the observed one is the usual guess.
        deviation: Standard deviation of the tests' differences, at least 0.
        alpha: Accepted chance of seeing a difference where there is none, between 0 and 1; divide
            it by the number of pairs where many are compared.
        power: Wanted chance of seeing it, between 0 and 1.

    Returns:
        Number of tests in all, at least 2; None where not even a thousand million are enough.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640, section 5.

    Example:
        >>> needed_tests(difference=0.05, deviation=0.3)
        283
    """
    wanted = _compute_wanted_ratio(deviation, alpha, power)
    if abs(difference) * math.sqrt(_MOST) <= wanted * deviation or difference == 0:
        return None
    return max(2, math.ceil((wanted * deviation / difference) ** 2))


def smallest_difference(
    n_tests: int, deviation: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Compute the smallest mean score difference that this many common tests probably show.

    Args:
        n_tests: Common tests, at least 1.
        deviation: Standard deviation of the tests' differences, at least 0.
        alpha: As in `needed_tests`.
        power: As in `needed_tests`.

    Returns:
        A difference of mean scores, at least 0.0; above 1.0 where nothing could be shown.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        As `needed_tests`.

    Example:
        >>> round(smallest_difference(n_tests=61, deviation=0.3), 3)
        0.108
    """
    if n_tests < 1:
        raise ValueError(f"n_tests must be at least 1, not {n_tests}")
    return _compute_wanted_ratio(deviation, alpha, power) * deviation / math.sqrt(n_tests)


def needed_trials(
    difference: float,
    n_tests: int,
    *,
    between_variance: float,
    trial_variance: float,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Compute how many trials per test a difference needs to show.

    Args:
        difference: As in `needed_tests`.
        n_tests: Common tests, at least 1.
        between_variance: Variance of the true differences between tests, at least 0.
        trial_variance: Variance of a difference between trials of one test, at least 0.
        alpha: As in `needed_tests`.
        power: As in `needed_tests`.

    Returns:
        Trials per test, at least 1; None where the tests are too few however often they are tried.

    Raises:
        ValueError: If an argument is out of its range.

    Source:
        As `needed_tests`.

    Example:
        >>> needed_trials(0.05, 300, between_variance=0.06, trial_variance=0.12)
        4
    """
    if n_tests < 1 or trial_variance < 0:
        raise ValueError("n_tests must be at least 1, and trial_variance at least 0")
    wanted = _compute_wanted_ratio(math.sqrt(between_variance), alpha, power)
    left = n_tests * (difference / wanted) ** 2 - between_variance
    return max(1, math.ceil(trial_variance / left)) if left * _MOST > trial_variance else None


def _compute_wanted_ratio(deviation: float, alpha: float, power: float) -> float:
    """Compute how many standard errors a difference must measure to show."""
    if deviation < 0 or not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError("deviation must be at least 0; alpha and power between 0 and 1")
    return _z(1 - alpha / 2) + _z(power)


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)

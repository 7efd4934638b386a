"""How much more testing would tell two LLMs apart."""

from __future__ import annotations

import math
from statistics import NormalDist

_MOST = 10**9
"""More tests or trials than this are no answer; the difference is one of rounding."""


def needed_tests(
    difference: float, deviation: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return on how many common tests a difference would probably be seen.

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
    wanted = _wanted_ratio(deviation, alpha, power)
    if abs(difference) * math.sqrt(_MOST) <= wanted * deviation or difference == 0:
        return None
    return max(2, math.ceil((wanted * deviation / difference) ** 2))


def smallest_difference(
    n_tests: int, deviation: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Return the smallest mean score difference that this many common tests probably show.

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
    return _wanted_ratio(deviation, alpha, power) * deviation / math.sqrt(n_tests)


def needed_trials(
    difference: float,
    n_tests: int,
    *,
    between_variance: float,
    trial_variance: float,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Return with how many trials of each test a difference would probably be seen.

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
    wanted = _wanted_ratio(math.sqrt(between_variance), alpha, power)
    left = n_tests * (difference / wanted) ** 2 - between_variance
    return max(1, math.ceil(trial_variance / left)) if left * _MOST > trial_variance else None


def _wanted_ratio(deviation: float, alpha: float, power: float) -> float:
    """Return how many standard errors a difference must measure to be seen."""
    if deviation < 0 or not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError("deviation must be at least 0; alpha and power between 0 and 1")
    return _z(1 - alpha / 2) + _z(power)


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)

"""Distributions of scores and differences, and the interval of whoever knows a distribution.

A distribution is an array of the chances of 0, 1/1000, ..., 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

STEPS = 1000
VALUES = np.arange(STEPS + 1) / STEPS
Chances = NDArray[np.float64]


def make_point(value: float) -> Chances:
    """Make a distribution of one value, 0.0 to 1.0."""
    chances = np.zeros(STEPS + 1)
    chances[round(value * STEPS)] = 1
    return chances


def make_beta(a: float, b: float) -> Chances:
    """Make a beta distribution, rounded to thousandths."""
    edges = np.clip((np.arange(STEPS + 2) - 0.5) / STEPS, 0, 1)
    return np.asarray(np.diff(stats.beta.cdf(edges, a, b)))


def mix(*parts: tuple[float, Chances]) -> Chances:
    """Mix distributions by weight."""
    return np.asarray(sum(weight * chances for weight, chances in parts))


def _above_half(chances: Chances) -> Chances:
    """Turn scores into differences from 0 to 1, written as 0.5 to 1."""
    half = np.zeros(STEPS + 1)
    np.add.at(half, np.rint(STEPS / 2 + np.arange(STEPS + 1) / 2).astype(int), chances)
    return half


def _subtract(one: Chances, other: Chances) -> Chances:
    """Subtract independent scores; -1 to 1 is written as 0 to 1."""
    whole = np.convolve(one, other[::-1])
    halves = np.zeros(STEPS + 1)
    np.add.at(halves, np.rint(np.arange(2 * STEPS + 1) / 2).astype(int), whole)
    return halves


_NEAR = _subtract(make_beta(1, 30), make_beta(1, 30))
_ZERO, _ONE = make_point(0), make_point(1)

SCORES: Mapping[str, Chances] = {
    **{
        f"binary, p {p}": mix((1 - p, _ZERO), (p, _ONE))
        for p in (0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.98)
    },
    **{
        f"beta {a}, {b}": make_beta(a, b)
        for a, b in (
            *((0.1, 2), (0.2, 5), (0.5, 20), (1, 30), (2, 50), (1, 9), (0.5, 0.5), (1, 1)),
            *((2, 2), (5, 1), (8, 0.5), (50, 2), (20, 2)),
        )
    },
    "80 % 0, else beta 2, 2": mix((0.8, _ZERO), (0.2, make_beta(2, 2))),
    "90 % 0, else beta 2, 2": mix((0.9, _ZERO), (0.1, make_beta(2, 2))),
    "50 % 0, else beta 1, 5": mix((0.5, _ZERO), (0.5, make_beta(1, 5))),
    "80 % 0, else beta 1, 9": mix((0.8, _ZERO), (0.2, make_beta(1, 9))),
    "90 % 1, else beta 2, 2": mix((0.9, _ONE), (0.1, make_beta(2, 2))),
    "90 % 0.3, 10 % 1": mix((0.9, make_point(0.3)), (0.1, _ONE)),
    "95 % 0.9, 5 % 0": mix((0.95, make_point(0.9)), (0.05, _ZERO)),
    "90 % 0, 10 % 0.2": mix((0.9, _ZERO), (0.1, make_point(0.2))),
    "fifths": mix(
        *zip((0.6, 0.1, 0.1, 0.05, 0.05, 0.1), map(make_point, np.arange(6) / 5), strict=True)
    ),
    "90 % beta 1, 30, 10 % 1": mix((0.9, make_beta(1, 30)), (0.1, _ONE)),
    "95 % beta 1, 30, 5 % 1": mix((0.95, make_beta(1, 30)), (0.05, _ONE)),
    "95 % beta 20, 2, 5 % 0": mix((0.95, make_beta(20, 2)), (0.05, _ZERO)),
    "80 % beta 8, 2, 20 % 0": mix((0.8, make_beta(8, 2)), (0.2, _ZERO)),
    "half beta 2, 10, half 10, 2": mix((0.5, make_beta(2, 10)), (0.5, make_beta(10, 2))),
}

DIFFERENCES: Mapping[str, Chances] = {
    **{
        f"won {won}, lost {lost}": mix(
            (1 - won - lost, make_point(0.5)), (won, _ONE), (lost, _ZERO)
        )
        for won, lost in (
            *((0.02, 0.02), (0.05, 0), (0.1, 0), (0.05, 0.05), (0.1, 0.02), (0.2, 0)),
            *((0.3, 0.1), (0.4, 0.4)),
        )
    },
    "small": _NEAR,
    "beta 2, 2 - beta 2, 3": _subtract(make_beta(2, 2), make_beta(2, 3)),
    "beta 1, 9 - beta 0.1, 2": _subtract(make_beta(1, 9), make_beta(0.1, 2)),
    "90 % small, 10 % +1": mix((0.9, _NEAR), (0.1, _ONE)),
    "90 % small, 10 % +0.8": mix((0.9, _NEAR), (0.1, make_point(0.9))),
    "95 % small, 5 % -1": mix((0.95, _NEAR), (0.05, _ZERO)),
    "90 % +0.1, 10 % -0.9": mix((0.9, make_point(0.55)), (0.1, make_point(0.05))),
    "70 % 0, else beta 1, 5": mix((0.7, make_point(0.5)), (0.3, _above_half(make_beta(1, 5)))),
    "85 % 0, else beta 1, 9": mix((0.85, make_point(0.5)), (0.15, _above_half(make_beta(1, 9)))),
    "beta 0.5, 10": _above_half(make_beta(0.5, 10)),
    "quarters": mix(
        *zip(
            (0.05, 0.1, 0.5, 0.2, 0.1, 0.05),
            map(make_point, (0.25, 0.375, 0.5, 0.625, 0.75, 1)),
            strict=True,
        )
    ),
}
"""Of differences from -1 to 1, written as 0 to 1."""

RARE: Mapping[str, float] = {
    **dict.fromkeys(("95 % 0.9, 5 % 0", "95 % beta 1, 30, 5 % 1", "95 % beta 20, 2, 5 % 0"), 0.05),
    **dict.fromkeys(("90 % 0.3, 10 % 1", "90 % 0, 10 % 0.2", "90 % beta 1, 30, 10 % 1"), 0.1),
    **dict.fromkeys(("90 % 0, else beta 2, 2", "90 % 1, else beta 2, 2"), 0.1),
    "95 % small, 5 % -1": 0.05,
    **dict.fromkeys(("90 % small, 10 % +1", "90 % small, 10 % +0.8", "90 % +0.1, 10 % -0.9"), 0.1),
}
"""Share of the values that are far from all others. A sample without any of them looks like one of
the others alone; no method can tell the two apart, so an interval that fits the others misses."""

WITHOUT_RARE: Mapping[str, str] = {
    "95 % beta 1, 30, 5 % 1": "beta 1, 30",
    "90 % beta 1, 30, 10 % 1": "beta 1, 30",
    "95 % beta 20, 2, 5 % 0": "beta 20, 2",
    "95 % small, 5 % -1": "small",
    "90 % small, 10 % +1": "small",
    "90 % small, 10 % +0.8": "small",
}
"""The distribution of the other values, where it is named, too."""


def compute_mean(chances: Chances) -> float:
    """Compute the mean of a distribution, 0.0 to 1.0."""
    return float(chances @ VALUES / chances.sum())


def make_random(rng: np.random.Generator) -> Chances:
    """Make a mixture of one or two beta laws and of the points 0 and 1, all at random."""
    shapes = np.exp(rng.uniform(np.log(0.3), np.log(20), (2, 2)))
    weights = rng.dirichlet([2, rng.integers(2) + 1e-9, *(rng.integers(2, size=2) * 0.5 + 1e-9)])
    laws = [make_beta(a, b) for a, b in shapes]
    return mix(*zip(weights, [*laws, _ZERO, _ONE], strict=True))


def draw(rng: np.random.Generator, chances: Chances, shape: tuple[int, int]) -> Chances:
    """Draw values of a distribution."""
    places = np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(shape))
    return np.asarray(VALUES[np.minimum(places, STEPS)])


def sum_draws(chances: Chances, n: int) -> tuple[Chances, Chances]:
    """Compute the sums of `n` values that may occur, and their chances."""
    size = 1 << (n * STEPS).bit_length()
    sums = np.fft.irfft(np.fft.rfft(chances / chances.sum(), size) ** n, size)[: n * STEPS + 1]
    places = np.flatnonzero(sums > 1e-15)
    return places / STEPS, np.asarray(sums[places])


def compute_needed_width(chances: Chances, n: int, *, n_points: int = 60) -> float:
    """Compute the mean width of the exact interval of whoever knows the shape of a distribution.

    The shape is the exponential family through it: for 0 and 1 the binomial family. The mean is
    not known; the interval holds the means of all members whose mid-p tails of the observed sum
    are at least 2.5 %. Source: Efron 1982, "The Jackknife, the Bootstrap and Other Resampling
    Plans", chapter 10 (tilting).

    Args:
        chances: The distribution.
        n: Number of values that are averaged.
        n_points: Quantiles of the observed sum over which the width is averaged.
    """
    totals, sums = sum_draws(chances, n)
    logs = np.log(sums)
    order = np.searchsorted(np.cumsum(sums), (np.arange(n_points) + 0.5) / n_points)
    points, counts = np.unique(np.minimum(order, len(sums) - 1), return_counts=True)
    widths = [
        _find_limit(chances, logs, totals, point, 1) - _find_limit(chances, logs, totals, point, -1)
        for point in points
    ]
    return float(np.average(widths, weights=counts))


def _find_limit(chances: Chances, logs: Chances, totals: Chances, point: int, side: int) -> float:
    support = np.flatnonzero(chances)
    if point == (len(totals) - 1 if side > 0 else 0):
        return float(VALUES[support[-1 if side > 0 else 0]])

    def tail(tilt: float) -> float:
        weights = logs + tilt * totals
        weights = np.exp(weights - weights.max())
        beyond = weights[:point] if side > 0 else weights[point + 1 :]
        return float((beyond.sum() + weights[point] / 2) / weights.sum())

    near, far = -side * 1.0, side * 1.0
    while tail(far) > 0.025:
        near, far = far, far * 2
    while tail(near) <= 0.025:
        near *= 2
    far = optimize.brentq(lambda tilt: tail(tilt) - 0.025, near, far, xtol=1e-4)
    weights = np.log(chances[support]) + far * VALUES[support]
    weights = np.exp(weights - weights.max())
    return float(weights @ VALUES[support] / weights.sum())

"""The interval of a mean score of tests in a few groups, by a model of groups of unlike ability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW = 30
"""From so many groups on the variance seen between them tells enough."""

_IN_FULL_UP_TO = 15
_LIKENESS = (1e-4, 0.006, 0.02, 0.06, 0.13, 0.22, 0.34, 0.48, 0.63, 0.78, 0.9)
_TAIL = 0.0225
"""Posterior chance on each side; 0.025 covers 0.5 % less."""
_MOST_PASSES = 400.0
"""A fractional score is never worth more passes or fails than this."""
_N_ROUGH, _N_FINE = 40, 60
_NEGLIGIBLE = 1e-5


def blend_few_groups(
    limits: tuple[float, float], of_few: tuple[float, float], n_groups: int
) -> tuple[float, float]:
    """Take the interval of few groups in full up to 15 of them, then less and less up to `FEW`."""
    weight = min(1.0, (FEW - n_groups) / (FEW - _IN_FULL_UP_TO))
    low, high = (
        few * weight + many * (1 - weight) for few, many in zip(of_few, limits, strict=True)
    )
    return low, high


def compute_few_groups_interval(
    sizes: Sequence[int], means: Sequence[float], squares: float, within: float
) -> tuple[float, float]:
    """Compute the mean scores that tests in a few groups leave open (95 %).

    A model with abilities: each group has one, drawn from a beta distribution, and its tests pass
    with that chance. The interval is the posterior one over all means and all degrees of likeness
    of tests within a group, so that groups which happen to look alike do not claim that they are.
    A fractional score counts as several passes and fails: as many as its variance within groups
    says. Groups weigh by their tests, so that the interval is that of the tests' plain mean.

    Args:
        sizes: Tests of each group, at least one group.
        means: Mean score of each group, 0.0 to 1.0.
        squares: Sum over tests of the squared deviations from the mean of all.
        within: The same from the mean of the test's group.

    Returns:
        Lower and upper limit, 0.0 to 1.0. Coverage: `benchmarks/statistics/clusters.py`.

    Source:
        Beta-binomial model: Skellam 1948, Journal of the Royal Statistical Society B 10; prior of
        the mean: uniform, as of Bayes and Laplace. Jeffreys' covers more than 97 % in twice as
        many simulated cases. Weights by tests, and passes of a fractional score, are ours.

    Example:
        >>> low, high = compute_few_groups_interval([5] * 8, [1.0, 0.4] * 4, 8.4, 4.8)
        >>> round(low, 1), round(high, 1)
        (0.5, 0.9)
    """
    import numpy as np

    tests, shares = np.array(sizes, dtype=np.float64), np.array(means, dtype=np.float64)
    trials = tests * _count_passes(tests, shares, squares, within)
    loss = 1 + np.outer(_LIKENESS, trials - 1)
    weights = loss * trials.sum() / (loss @ trials)[:, np.newaxis]
    edges = np.linspace(0, np.pi / 2, _N_ROUGH + 1)
    below = _sum_chances(shares * trials, (1 - shares) * trials, weights, edges)
    first = max(0, int(np.searchsorted(below, _NEGLIGIBLE)) - 2)
    last = min(_N_ROUGH, int(np.searchsorted(below, 1 - _NEGLIGIBLE)) + 1)
    edges = np.linspace(edges[first], edges[last], _N_FINE + 1)
    below = _sum_chances(shares * trials, (1 - shares) * trials, weights, edges)
    low, high = (np.sin(np.interp([_TAIL, 1 - _TAIL], below, edges)) ** 2).tolist()
    return low, high


def _count_passes(
    tests: NDArray[np.float64], shares: NDArray[np.float64], squares: float, within: float
) -> float:
    """Count how many passes or fails one score is worth: 1 if scores are 0 or 1."""
    mean = float(tests @ shares / tests.sum())
    coin, coins = tests.sum() * mean * (1 - mean), float(tests @ (shares * (1 - shares)))
    ratios = [1.0]
    if coin > 0:
        ratios.append(_MOST_PASSES if squares * _MOST_PASSES <= coin else coin / squares)
    if coins > 1e-9:
        ratios.append(_MOST_PASSES if within * _MOST_PASSES <= coins else coins / within)
    return max(ratios)


def _sum_chances(
    passes: NDArray[np.float64],
    fails: NDArray[np.float64],
    weights: NDArray[np.float64],
    edges: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Compute the posterior chance that the mean lies below each edge.

    Args:
        passes: Of each group.
        fails: Of each group.
        weights: Of each group (column) at each likeness (row).
        edges: Angles whose squared sine is the mean.
    """
    import numpy as np
    from scipy.special import betaln, gammaln, logsumexp

    middles = np.sin((edges[1:] + edges[:-1]) / 2) ** 2
    totals = 1 / np.array(_LIKENESS)[:, np.newaxis] - 1
    a, b = (part[:, np.newaxis, np.newaxis] * totals for part in (middles, 1 - middles))
    fits = gammaln(passes + a) + gammaln(fails + b) - gammaln(passes + fails + totals)
    fits -= betaln(a, b)
    prior = np.log(np.sin(edges[1:] + edges[:-1]))[:, np.newaxis]
    by_mean = np.einsum("mlg,lg->ml", fits, weights) + prior
    by_mean += logsumexp(fits.sum(axis=2) + prior, axis=0) - logsumexp(by_mean, axis=0)
    chances = np.exp(by_mean - by_mean.max()).sum(axis=1)
    return np.concatenate([[0.0], np.cumsum(chances) / chances.sum()])

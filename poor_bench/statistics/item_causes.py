"""Causes of failing that models share on one test, beyond the usual share of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.scoring.verdict import Cause
from poor_bench.statistics.outcomes import PASSED
from poor_bench.statistics.votes import LEAST_MODELS, MISSING, Votes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Bits = NDArray[np.bool_]

_SHRINKING = 8.0
"""Votes by which the usual share of a model is drawn to that of models that have it seldom."""
_STEPS_OF_WEIGHT = 4
"""Steps of one unit of log likelihood, to which weights are rounded."""
_OF_PROMPTS = frozenset({Cause.MISSING_FUNCTION, Cause.ARGUMENTS, Cause.MISSING_MODULE})
"""Causes that a sound test has seldom: its prompt says what the evaluator wants."""


def weigh_causes(votes: Votes, rows: Codes) -> list[tuple[int, float]]:
    """Find for each test the cause that most exceeds its usual share, with its p-value.

    Causes that lie between prompt and evaluator are counted among all models; others, such as a
    crash or a message, among those that fail: hard tests have more of them.
    """
    import numpy as np

    voted, fails = votes.codes != MISSING, (votes.codes != MISSING) & (votes.codes != PASSED)
    every = [votes.caused == cause for cause in range(1, len(votes.causes) + 1)]
    shared = [n for n, has in enumerate(every) if (has[rows].sum(axis=1) >= LEAST_MODELS).any()]
    best = [(0, 1.0)] * len(rows)
    for cause in shared:
        has, is_of_prompt = every[cause], votes.causes[cause].text in _OF_PROMPTS
        count = has.sum(axis=1)
        if is_of_prompt:
            tails = _compute_tails(has, voted, 3 * count < voted.sum(axis=1))
        else:
            tails = _compute_tails(has, fails, fails.any(axis=1))
        p_values = np.where(count >= LEAST_MODELS, tails * len(shared), 1.0)[rows]
        best = [
            (cause + 1, float(p)) if p < old[1] else old
            for p, old in zip(p_values, best, strict=True)
        ]
    return best


def _compute_tails(has: Bits, among: Bits, usual: Bits) -> Array:
    """Compute the chance that models with so much weight have a cause, each at its usual share.

    The weight of a model is its log likelihood ratio for a cause that strikes every second model:
    one whose code is never found has the cause everywhere and is not a witness. Usual shares leave
    out tests that exceed them, found by repetition: a class of prompts that do not say what the
    evaluator wants must not become the standard.

    Args:
        has: Which models have the cause; one row per test, one column per model.
        among: Which votes count.
        usual: Tests to start from.
    """
    import numpy as np

    for _ in range(5):
        n_with = (has & among & usual[:, None]).sum(axis=0)
        n_of = (among & usual[:, None]).sum(axis=0)
        seldom = 2 * n_with <= n_of
        overall = (n_with[seldom].sum() + 0.5) / (n_of[seldom].sum() + 10)
        share = (n_with + _SHRINKING * overall) / (n_of + _SHRINKING)
        weights = np.rint(_STEPS_OF_WEIGHT * np.maximum(0.0, np.log((1 - share) / share)))
        tails = _sum_upper_tail(np.where(among, share, 0.0), has & among, weights.astype(int))
        usual = usual & (tails > 0.05)
    return tails


def _sum_upper_tail(chances: Array, has: Bits, weights: Codes) -> Array:
    """Compute the chance of at least the weight of `has`, each column with its own chance."""
    import numpy as np

    least = (has * weights).sum(axis=1)
    sums = np.zeros((len(chances), weights.sum() + 1))
    sums[:, 0] = 1.0
    for chance, weight in zip(chances.T[:, :, None], weights, strict=True):
        hit = sums * chance
        sums -= hit
        sums[:, weight:] += hit[:, : sums.shape[1] - weight]
    reached = np.arange(sums.shape[1]) >= least[:, None]
    tail: Array = np.where(reached, sums, 0.0).sum(axis=1)
    return tail

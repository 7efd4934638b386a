"""Which of several changed factors moved the scores, by few paired re-runs of the same tests.

A pair asks one test twice: once with some factors as they are after and the others as before, and
once the other way round. Its difference holds every factor's effect with a known sign, and neither
the difficulty of the test nor what two factors do together. Whether the scores of the same tests
changed at all is tested by exchanging trials within each test.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.statistics.intervals import Estimate, t_quantile_95
from poor_bench.statistics.significance import compute_sign_flip_p_values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Signs = tuple[int, ...]

FIRST_LOOK = 32
"""Pairs before the first look; each further one comes when there are twice as many."""
LAST_LOOK = 0.008
"""Chance of a wrong cause at the last look; earlier ones have their share of the pairs of it."""
_MOVED_WEIGHT = 3.0
"""Tests whose score moved vary about so many times as much as others."""
_UNSEEN = 0.25
"""Variance of one pair that a stratum may have missed; so identical differences claim less."""
_SHRINK = 2.0
"""Pairs that the effect on a single test is shrunk by."""
_DUST = 1e-9
"""Differences below are rounding errors."""
_SMALLEST = 0.05
_SHARE_OF_CHANGE = 0.2


class Pair(NamedTuple):
    """Two re-runs of one test."""

    test: int
    """Its place among the tests, from 0."""
    signs: Signs
    """For each factor 1 (first as after, then as before), -1 (the other way round), or 0 where the
    factor does not concern the test."""


class RerunObservation(NamedTuple):
    """What a pair came to."""

    pair: Pair
    first: float
    """Score of the first re-run, 0.0 to 1.0."""
    second: float
    """Score of the second one, with every factor at its other state."""

    def list_scores_without(self, causes: Collection[int]) -> list[float]:
        """List the scores of the re-runs in which all of some factors are as before."""
        signs = [self.pair.signs[factor] for factor in causes]
        without = ((self.first, max(signs, default=0)), (self.second, -min(signs, default=0)))
        return [score for score, latest in without if latest <= 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Effect of one factor on the mean score of all tests."""

    estimate: Estimate
    """After minus before, with its 95 % interval; -1.0 to 1.0."""
    is_cause: bool
    """True if the effect is significant, corrected for all factors and looks."""
    p_value: float
    """Of the newest look, corrected for the factors that were not yet found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """Pairs of re-runs for some factors, and what they tell.

    Causes are found by sign-flip tests on the pairs, the strongest first; the effects of found
    causes are removed before the next factor is tested. `benchmarks/statistics/autopsy.py` prints
    how often exactly the planted causes are found, and with how many calls.

    Source:
        Pairs of opposite settings in an orthogonal array (fold-over): Box and Wilson 1951, "On the
        experimental attainment of optimum conditions", Journal of the Royal Statistical Society B
        13; group screening: Watson 1961, Technometrics 3.
    """

    applies: tuple[tuple[bool, ...], ...]
    """One row per test, one column per factor: True if the factor concerns the test."""
    moved: tuple[bool, ...]
    """True for each test whose stored scores differ; such tests are asked more often."""
    change: float
    """Change of the mean score that is to be explained, -1.0 to 1.0."""
    seed: int = 0

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.applies[0]) if self.applies else 0

    @property
    def n_full(self) -> int:
        """Re-runs of one trial of every combination of factors on every test they concern."""
        return sum(2 ** sum(row) for row in self.applies if any(row))

    def list_pairs(self, n: int) -> list[Pair]:
        """List the first `n` pairs to ask, always the same; fewer if no test is concerned.

        Tests with the same factors take turns in blocks, in which all factors are balanced.
        """
        import numpy as np

        rng = np.random.default_rng(self.seed)
        strata = self._strata()
        queues: dict[int, list[int]] = {number: [] for number in range(len(strata))}
        n_asked = [0.0] * len(strata)
        pairs: list[Pair] = []
        while strata and len(pairs) < n:
            chosen = min(range(len(strata)), key=lambda s: n_asked[s] / strata[s].weight)
            block = _draw_block(strata[chosen].factors, self.n_factors, rng)
            for signs in block:
                if not queues[chosen]:
                    queues[chosen] = rng.permutation(strata[chosen].tests).tolist()
                pairs.append(Pair(queues[chosen].pop(), signs))
            n_asked[chosen] += len(block)
        return pairs[:n]

    def look(
        self, observations: Sequence[RerunObservation], n_most: int, known: Sequence[int] = ()
    ) -> list[Effect]:
        """Estimate all effects, and find the causes.

        Args:
            observations: All so far.
            n_most: Pairs at the last look, at least as many as `observations`.
            known: Factors that an earlier look has found; they stay causes.

        Returns:
            One per factor; of factors that were not asked yet an effect from -1 to 1.
        """
        import numpy as np

        strata = self._strata()
        of_test = {test: s for s, stratum in enumerate(strata) for test in stratum.tests}
        signs = np.array([item.pair.signs for item in observations], dtype=np.float64)
        signs = signs.reshape(len(observations), self.n_factors)
        data = _Data(
            signs=signs,
            differences=np.array([item.first - item.second for item in observations]),
            test=np.array([item.pair.test for item in observations], dtype=np.int64),
            stratum=np.array([of_test[item.pair.test] for item in observations], dtype=np.int64),
            shares=np.array([len(stratum.tests) / len(self.applies) for stratum in strata]),
        )
        level = LAST_LOOK * len(observations) / max(1, n_most)
        causes, chances = _find_causes(data, known, level)
        return [
            Effect(
                estimate=data.estimate(factor, [each for each in causes if each != factor]),
                is_cause=factor in causes,
                p_value=float(chances[factor]),
            )
            for factor in range(self.n_factors)
        ]

    def is_settled(self, effects: Sequence[Effect]) -> bool:
        """True if every factor is a cause, or its effect is shown to be small.

        Small is below a fifth of the change, and or below 0.05.
        """
        small = max(_SMALLEST, _SHARE_OF_CHANGE * abs(self.change))
        return all(
            effect.is_cause or max(-effect.estimate.low, effect.estimate.high) < small
            for effect in effects
        )

    def _strata(self) -> list[_Stratum]:
        """Group the tests by the factors that concern them, and by whether their score moved."""
        found: dict[tuple[bool, tuple[bool, ...]], list[int]] = {}
        for test, (row, moved) in enumerate(zip(self.applies, self.moved, strict=True)):
            if any(row):
                found.setdefault((not moved, row), []).append(test)
        return [
            _Stratum(
                tests=tests,
                factors=[factor for factor, concerned in enumerate(row) if concerned],
                weight=len(tests) * (1.0 if calm else _MOVED_WEIGHT),
            )
            for (calm, row), tests in sorted(found.items())
        ]


class _Stratum(NamedTuple):
    tests: list[int]
    factors: list[int]
    weight: float
    """In proportion to how many of the pairs it gets."""


def _draw_block(factors: Sequence[int], n_factors: int, rng: np.random.Generator) -> list[Signs]:
    """Draw the rows of an orthogonal array for some factors, in random order."""
    import numpy as np
    from scipy.linalg import hadamard

    size = 1 << max(0, len(factors) - 1).bit_length()
    rows = np.zeros((size, n_factors), dtype=np.int64)
    columns = rng.permutation(size)[: len(factors)]
    rows[:, factors] = hadamard(size)[:, columns] * rng.choice([-1, 1], len(factors))
    return [tuple(row) for row in rng.permutation(rows).tolist()]


@dataclass(frozen=True, slots=True)
class _Data:
    """All pairs so far; arrays of one entry per pair, but for `shares`."""

    signs: NDArray[np.float64]
    differences: NDArray[np.float64]
    test: NDArray[np.int64]
    stratum: NDArray[np.int64]
    shares: NDArray[np.float64]
    """Share of all tests that a stratum is, by stratum."""

    def without(self, factors: Sequence[int]) -> NDArray[np.float64]:
        """Remove the effects of some factors, as large as each stratum shows them."""
        import numpy as np

        left = self.differences.copy()
        if factors:
            for stratum in np.unique(self.stratum):
                rows = self.stratum == stratum
                design = self.signs[rows][:, factors]
                left[rows] -= design @ np.linalg.lstsq(design, left[rows], rcond=None)[0]
        return left

    def without_by_test(self, factors: Sequence[int]) -> NDArray[np.float64]:
        """Remove the effects of some factors, as large as each test shows them, shrunk a bit.

        More noise goes than by `without`, and some of what other factors do: for tests only.
        """
        import numpy as np

        left = self.without(factors)
        if factors:
            shrink = _SHRINK * np.eye(len(factors))
            for test in np.unique(self.test):
                rows = self.test == test
                design = self.signs[rows][:, factors]
                own = np.linalg.solve(design.T @ design + shrink, design.T @ left[rows])
                left[rows] -= design @ own
        left[np.abs(left) < _DUST] = 0.0
        return left

    def estimate(self, factor: int, others: Sequence[int]) -> Estimate:
        """Estimate an effect on all tests: each stratum counts as many tests as it has."""
        import numpy as np

        turned = self.signs[:, factor] * self.without(others)
        asked = self.signs[:, factor] != 0
        strata = np.unique(self.stratum[asked])
        value = variance = 0.0
        for stratum in strata:
            of_stratum = turned[asked & (self.stratum == stratum)]
            n, share = len(of_stratum), float(self.shares[stratum])
            value += share * float(of_stratum.mean())
            spread = float(of_stratum.var(ddof=1)) if n > 1 else 1.0
            variance += share**2 * (spread + _UNSEEN / n) / n
        n_pairs = int(asked.sum())
        if n_pairs == 0:
            return Estimate(value=0.0, low=-1.0, high=1.0, n=0)
        half = t_quantile_95(max(1, n_pairs - len(strata))) * math.sqrt(variance)
        return Estimate(
            value=value, low=max(-1.0, value - half), high=min(1.0, value + half), n=n_pairs
        )


def _find_causes(
    data: _Data, known: Sequence[int], level: float
) -> tuple[list[int], NDArray[np.float64]]:
    """Find causes, the strongest first, and the corrected p-value of each factor."""
    import numpy as np

    n_factors = data.signs.shape[1]
    causes = list(known)
    chances = np.zeros(n_factors)
    while len(data.differences) and len(causes) < n_factors:
        others = [factor for factor in range(n_factors) if factor not in causes]
        turned = data.signs[:, others] * data.without_by_test(causes)[:, None]
        p_values = np.minimum(1.0, compute_sign_flip_p_values(turned) * len(others))
        chances[others] = p_values
        best = int(p_values.argmin())
        if p_values[best] >= level:
            break
        causes.append(others[best])
    return causes, chances


def find_budget(screening: Screening, n_trials: int) -> int:
    """Compute the most re-runs: a quarter of the full factorial.

    Args:
        screening: The factors and tests.
        n_trials: Trials of each test that the full factorial would run, at least 1.
    """
    return screening.n_full * n_trials // 4


_DRAWN = 9_999
_SAME = 1e-9


def compute_exchange_p_value(
    ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]], *, seed: int = 0
) -> float:
    """Compute the chance of the difference in means if all trials of a test are alike.

    It speaks of these tests only. If nothing changed, any trials of a test might be the `ones`;
    tests whose trials agree add no noise, so it finds more than `compute_sign_flip_p_values`.

    Args:
        ones: For each test the scores of its trials on one side, at least one.
        others: For each test those on the other side, at least one.
        seed: Of the 9,999 drawn exchanges.

    Returns:
        Two-sided mid p-value, above 0 to 1.

    Source:
        Fisher 1935, "The Design of Experiments", section 21; permutation within blocks.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    seen, drawn = 0.0, np.zeros(_DRAWN)
    for one, other in zip(ones, others, strict=True):
        scores = np.array([*one, *other], dtype=np.float64)
        weights = np.repeat([1 / len(one), -1 / len(other)], [len(one), len(other)])
        seen += float(weights @ scores)
        if np.ptp(scores) <= _SAME:
            continue
        if len(one) == 1:  # any trial may be the one: quicker than an exchange of all
            taken = scores[rng.integers(len(scores), size=_DRAWN)]
            drawn += taken - (scores.sum() - taken) / len(other)
        else:
            drawn += rng.permuted(np.tile(scores, (_DRAWN, 1)), axis=1) @ weights
    farther = (np.abs(drawn) > abs(seen) + _SAME).sum()
    as_far = (np.abs(np.abs(drawn) - abs(seen)) <= _SAME).sum()
    return float((farther + as_far / 2 + 0.5) / (_DRAWN + 1))

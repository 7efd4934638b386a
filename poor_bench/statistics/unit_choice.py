"""Units of tests that are chosen or left out as a whole: tests, or groups of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

_NOISE_WEIGHT = 4.0
"""Weight of the tests' own noise in the choice. Without it, the choice fits the known models by
chance and predicts new ones no better than a random one (`benchmarks/statistics/short_form.py`)."""
_MOST_SWEEPS = 4
_MOST_WORK = 2e9
"""Swaps times models, above which the choice stays random."""


class TestUnits:
    """Tests, or groups of tests, that are chosen or left out as a whole."""

    __test__ = False

    def __init__(self, of_test: Places, strata: Places, classes: Places) -> None:
        """Number the units; all arguments have one entry per test.

        Args:
            of_test: Unit of each test, from 0 on.
            strata: Class and level.
            classes: Class.
        """
        import numpy as np

        self._of_test = of_test
        self._sizes = np.bincount(of_test)
        first = np.unique(of_test, return_index=True)[1]
        self._strata = strata[first]
        self._classes = classes[first]

    def choose(self, n: int, scores: Numbers | None, seed: int) -> Places:
        """Choose about `n` tests.

        Args:
            n: At least 1.
            scores: One row per test, one column per model: the choice follows them; None for a
                random choice.
            seed: Of the random choice.
        """
        import numpy as np

        chosen = self._draw(n, np.random.default_rng(seed))
        if scores is not None:
            work = len(chosen) * len(self._sizes) * scores.shape[1] * _MOST_SWEEPS
            if work < _MOST_WORK:
                self._improve(chosen, scores)
        return np.flatnonzero(np.isin(self._of_test, chosen))

    def _draw(self, n: int, rng: np.random.Generator) -> Places:
        """Draw units at random: each class and level has its share of the tests."""
        import numpy as np

        by_level = self._spread(rng.permutation(len(self._sizes)), self._strata)
        ranked = self._spread(by_level, self._classes)
        chosen, missing = [], n
        for unit in ranked.tolist():
            if missing >= self._sizes[unit] / 2:
                chosen.append(unit)
                missing -= int(self._sizes[unit])
        return np.array(chosen or ranked[:1].tolist(), dtype=np.int64)

    def _spread(self, order: Places, parts: Places) -> Places:
        """Order units so that each part has its share of every beginning; else in `order`."""
        import numpy as np

        n_of = np.bincount(parts, weights=self._sizes)
        drawn = np.zeros(len(n_of))
        position = np.zeros(len(order))
        for place, unit in enumerate(order.tolist()):
            part = parts[unit]
            position[place] = (drawn[part] + self._sizes[unit] / 2) / n_of[part]
            drawn[part] += self._sizes[unit]
        spread: Places = order[np.argsort(position, kind="stable")]
        return spread

    def _improve(self, chosen: Places, scores: Numbers) -> None:
        """Swap units for others of the same stratum and size while the prediction gets better."""
        import numpy as np

        n, n_models = int(self._sizes[chosen].sum()), scores.shape[1]
        centred = scores - scores.mean(axis=1, keepdims=True)
        sums = np.zeros((len(self._sizes), n_models))
        np.add.at(sums, self._of_test, centred)
        noise = np.bincount(self._of_test, weights=centred.var(axis=1, ddof=1))
        noise *= _NOISE_WEIGHT / n**2 / n_models
        left = centred.mean(axis=0) - sums[chosen].sum(axis=0) / n
        is_free = np.ones(len(self._sizes), dtype=bool)
        is_free[chosen] = False
        for _ in range(_MOST_SWEEPS):
            is_changed = False
            for place, unit in enumerate(chosen.tolist()):
                same = is_free & (self._strata == self._strata[unit])
                others = np.flatnonzero(same & (self._sizes == self._sizes[unit]))
                if not len(others):
                    continue
                steps = (sums[others] - sums[unit]) / n
                gains = (2 * steps @ left - (steps**2).sum(axis=1)) / (n_models - 1)
                gains -= noise[others] - noise[unit]
                best = int(np.argmax(gains))
                if gains[best] > 1e-12:
                    left = left - steps[best]
                    is_free[unit], is_free[others[best]] = True, False
                    chosen[place] = others[best]
                    is_changed = True
            if not is_changed:
                break

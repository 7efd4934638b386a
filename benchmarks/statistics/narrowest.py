"""The narrowest intervals of won and lost tests, by integer programming.

An interval of 30 paired differences of passed or failed tests depends on how many tests are won and
how many lost. Of all intervals that cover 95 % (or 93 %) whatever the shares won and lost are, that
treat both models alike, hold the difference seen and do not fall where more tests are won, this is
the least mean width where 5 % are won and none is lost: by that of whoever knows that none is lost
(`distributions.py`). Limits are multiples of 0.01; for more than 4 tests won or lost they may be
drawn by lot, which can only make the intervals narrower.
"""

from __future__ import annotations

import numpy as np
from distributions import DIFFERENCES, compute_needed_width
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix
from scipy.stats import multinomial
from simulation import Figure, print_figures

N_TESTS = 30
_MOST, _WHOLE = 9, 4
_LIMITS = np.round(np.arange(-0.3, 0.1501, 0.01), 3)
_SHARES = np.round(np.arange(0, 0.2001, 0.01), 3)
_SEEN = [(won, lost) for won in range(_MOST + 1) for lost in range(_MOST + 1 - won)]
_PLACES = {seen: place for place, seen in enumerate(_SEEN)}
_MIRRORED = np.array([_PLACES[lost, won] for won, lost in _SEEN])
_SHAPE = len(_SEEN), len(_LIMITS)
_SECONDS = 120

Numbers = NDArray[np.float64]


def _compute_chances(won: float, lost: float) -> Numbers:
    counts = [(n_won, n_lost, N_TESTS - n_won - n_lost) for n_won, n_lost in _SEEN]
    return np.asarray(multinomial.pmf(counts, N_TESTS, [won, lost, 1 - won - lost]))


def _list_misses() -> Numbers:
    """List for each pair of shares the chance of a miss that each lower limit brings."""
    rows = []
    for won in _SHARES:
        for lost in _SHARES[(won >= _SHARES) & (won + _SHARES <= _SHARES[-1] + 1e-9)]:
            chances = _compute_chances(won, lost)[:, np.newaxis]
            above = np.zeros(_SHAPE)
            above[_MIRRORED] = chances * (lost - won + 1e-9 < _LIMITS)
            rows.append((above + chances * (won - lost + 1e-9 < _LIMITS)).ravel())
    return np.array(rows)


def _list_steps() -> Numbers:
    """List what a lower limit gains by one more test won, or loses by one more lost."""
    rows = []
    for (won, lost), place in _PLACES.items():
        for seen, sign in (((won + 1, lost), 1), ((won, lost + 1), -1)):
            if seen in _PLACES:
                row = np.zeros(_SHAPE)
                row[_PLACES[seen]], row[place] = sign * _LIMITS, -sign * _LIMITS
                rows.append(row.ravel())
    return np.array(rows)


def find_least_width(won: float, missed: float) -> float:
    """Find a lower bound of the mean width where no test is lost, by that needed.

    Args:
        won: Share of the tests won, 0.0 to 0.2.
        missed: Largest chance that an interval misses, whatever the shares.
    """
    chances = _compute_chances(won, 0.0)
    weights = chances.copy()
    weights[_MIRRORED] += chances
    highest = np.array([(n_won - n_lost) / N_TESTS for n_won, n_lost in _SEEN])
    is_whole = np.array([sum(seen) <= _WHOLE for seen in _SEEN])
    found = milp(
        -np.outer(weights, _LIMITS).ravel(),
        constraints=[
            LinearConstraint(csr_matrix(_list_misses()), -np.inf, missed),
            LinearConstraint(csr_matrix(np.kron(np.eye(_SHAPE[0]), np.ones(_SHAPE[1]))), 1, 1),
            LinearConstraint(csr_matrix(_list_steps()), 0, np.inf),
        ],
        bounds=Bounds(0, (highest[:, np.newaxis] + 1e-9 >= _LIMITS).astype(float).ravel()),
        integrality=np.repeat(is_whole, _SHAPE[1]).astype(int),
        options={"time_limit": _SECONDS},
    )
    needed = 2 * compute_needed_width(DIFFERENCES[f"won {won:g}, lost 0"], N_TESTS)
    return float(found.mip_dual_bound / needed)


def main() -> None:
    """Print the bounds."""
    figures = [
        Figure(
            label=f"covers {1 - missed:.0%}: won {won:g}, lost 0; {N_TESTS} tests",
            value=find_least_width(won, missed),
            error=0.0,
            percent=False,
        )
        for missed in (0.05, 0.07)
        for won in (0.05, 0.1)
    ]
    print_figures("Least mean width by that needed", figures)


if __name__ == "__main__":
    main()

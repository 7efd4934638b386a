"""Exact distribution of a sum whose terms have random signs, for many columns of terms at once.

Few terms: all patterns of signs are listed. More terms: their sizes are placed on a grid, and the
distribution of the sum follows from its characteristic function, the product of the cosines of the
sizes, by one Fourier transform. Scores mostly lie on a grid by themselves (0 and 1, tenths, means
of three trials): then the result is exact to 12 digits. Other sizes are rounded to a fine grid
whose variance is that of the sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LISTED_UP_TO = 12
"""Terms; 4,096 patterns."""
_FULL_UP_TO = 6
"""Terms: with 5 or 6, mid p-values of various sizes are below 0.05 in 6 % of cases."""
_MOST_STEPS = 240
"""Steps from 0 to 1 of the finest grid that scores are looked for on."""
_MOST_EXACT = 300.0
"""Steps per standard deviation of the sum; on a finer grid a single sum has no weight."""
_ROUNDED = 256.0
"""Steps per standard deviation of the sum, of sizes that lie on no such grid."""
_LONGEST = 512
"""Most steps of a rounded size."""
_REACH = 9.0
"""Standard deviations that the transform spans on both sides: 1e-18 of the sums lie outside."""
_PROBED = 64
"""Terms that show whether a grid is worth a try on all of them."""
_NUMBERS_AT_ONCE = 1 << 18


def compute_tails(columns: NDArray[np.float64], *, mid: bool) -> NDArray[np.float64]:
    """Compute the chance that terms with random signs add up to as much as they do.

    Args:
        columns: One row per term, finite; each column is a sum of its own.
        mid: Whether sums as far from zero as the one seen count half, for mid p-values.

    Returns:
        Two-sided chances, above 0 to 1, one per column; 1 where all terms are 0.

    Source:
        Pagano and Tritchler 1983, "On obtaining permutation distributions in polynomial time",
        Journal of the American Statistical Association 78 (characteristic function); bound where
        the transform's rounding errors would rule: Hoeffding 1963, the same journal 58, theorem 2.
    """
    import numpy as np

    width = max(1, _NUMBERS_AT_ONCE // max(1, len(columns)))
    starts = range(0, columns.shape[1], width)
    tails = [_compute_part(columns[:, start : start + width], mid=mid) for start in starts]
    return np.concatenate([np.zeros(0), *tails])


def _compute_part(columns: NDArray[np.float64], *, mid: bool) -> NDArray[np.float64]:
    """Compute the tails of so many columns as fit into a processor's cache."""
    import numpy as np

    sizes = np.abs(columns)
    seen = np.abs(columns.sum(axis=0))
    seen[seen <= 1e-9 * sizes.sum(axis=0)] = 0.0
    n_terms = np.count_nonzero(sizes, axis=0)
    tails = np.ones(columns.shape[1])
    for column in np.flatnonzero((n_terms <= _LISTED_UP_TO) & (seen > 0)):
        tails[column] = _list_patterns(sizes[:, column], float(seen[column]), mid=mid)
    many = np.flatnonzero((n_terms > _LISTED_UP_TO) & (seen > 0))
    if len(many):
        tails[many] = _transform(sizes[:, many], seen[many], mid=mid)
    return tails


def _list_patterns(sizes: NDArray[np.float64], seen: float, *, mid: bool) -> float:
    import numpy as np

    sums = np.zeros(1)
    for size in sizes[sizes > 0]:
        sums = np.concatenate([sums + size, sums - size])
    tolerance = 1e-9 * sizes.sum()
    at_least = float(np.mean(np.abs(sums) >= seen - tolerance))
    if not mid or _counts_in_full(sizes[sizes > 0]):
        return at_least
    return (float(np.mean(np.abs(sums) > seen + tolerance)) + at_least) / 2


def _counts_in_full(sizes: NDArray[np.float64]) -> bool:
    """True for so few terms of various sizes that a mid p-value would be below 0.05 too often."""
    return len(sizes) <= _FULL_UP_TO and sizes.max() > sizes.min() * (1 + 1e-6)


def _transform(
    sizes: NDArray[np.float64], seen: NDArray[np.float64], *, mid: bool
) -> NDArray[np.float64]:
    """Compute the tails of columns with many terms, in batches of the same length."""
    import numpy as np

    total = np.sqrt(np.einsum("ij,ij->j", sizes, sizes))
    tails: NDArray[np.float64] = 2 * np.exp(-((seen / total) ** 2) / 2)
    near = np.flatnonzero(seen < (_REACH - 1) * total)
    rounded = np.rint(sizes[:, near] / _find_steps(sizes[:, near], total[near]))
    deviations = np.sqrt(np.einsum("ij,ij->j", rounded, rounded))
    places = rounded.astype(np.int64)
    targets = seen[near] / total[near] * deviations
    whole = np.rint(targets)
    targets = np.where(np.abs(targets - whole) < 1e-6, whole, targets)
    lengths = 2 ** np.ceil(np.log2(2 * _REACH * deviations)).astype(np.int64)
    for length in sorted({*lengths.tolist()}):  # `np.unique` would import masked arrays
        part = np.flatnonzero(lengths == length)
        found = _sum_up(places[:, part], targets[part], length, mid=mid)
        tails[near[part]] = np.minimum(tails[near[part]], found)
    return tails


def _find_steps(sizes: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the grid of each column: that of the scores themselves, or one to round to.

    Args:
        sizes: One row per term, one column per sum.
        total: Standard deviation of each sum.
    """
    import numpy as np

    largest = sizes.max(axis=0)
    steps: NDArray[np.float64] = np.maximum(total / _ROUNDED, largest / _LONGEST)
    is_open = np.ones(len(total), dtype=np.bool_)
    candidates = [largest, largest / 2, *(1 / divisor for divisor in range(1, _MOST_STEPS + 1))]
    for candidate in candidates:
        if not is_open.any():
            break
        tried = is_open & (candidate * _MOST_EXACT >= total)
        if not tried.any():
            continue
        columns = np.flatnonzero(tried)
        step = np.broadcast_to(candidate, total.shape)[columns]
        likely = _lie_on_grid(sizes[:_PROBED, columns], step)
        columns, step = columns[likely], step[likely]
        fits = _lie_on_grid(sizes[:, columns], step)
        steps[columns[fits]] = step[fits]
        is_open[columns[fits]] = False
    return steps


def _lie_on_grid(sizes: NDArray[np.float64], steps: NDArray[np.float64]) -> NDArray[np.bool_]:
    import numpy as np

    multiples = sizes / steps
    return np.asarray((np.abs(multiples - np.rint(multiples)) < 1e-6).all(axis=0))


def _sum_up(
    places: NDArray[np.int64], targets: NDArray[np.float64], length: int, *, mid: bool
) -> NDArray[np.float64]:
    """Compute two-sided tails from the characteristic functions on a circle of `length`."""
    import numpy as np

    n_columns = places.shape[1]
    width = int(places.max()) + 1
    flat = (places + np.arange(n_columns) * width).ravel()
    counts = np.bincount(flat, minlength=n_columns * width).reshape(n_columns, width)[:, 1:]
    used = np.flatnonzero(counts.any(axis=0))
    counts = counts[:, used].astype(np.float64)
    cosines = np.cos(2 * np.pi / length * np.outer(used + 1, np.arange(length // 2 + 1)))
    logs = np.log(np.maximum(np.abs(cosines), 1e-300))
    signs = 1 - 2 * ((counts @ (cosines < 0)) % 2)
    chances = np.fft.irfft(signs * np.exp(counts @ logs), n=length, axis=1)
    half = np.maximum(chances[:, : length // 2], 0.0)
    above = np.cumsum(half[:, ::-1], axis=1)[:, ::-1]  # chance of each sum or a greater one
    values = above - half / 2 if mid else above
    below = np.floor(targets).astype(np.int64)
    rows, share = np.arange(n_columns), targets - below
    tails = 2 * ((1 - share) * values[rows, below] + share * values[rows, below + 1])
    return np.clip(tails + 1e-13, 0.0, 1.0)

"""The sign-flip permutation test for paired differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_EXACT_UP_TO = 15
_CHUNK = 1000


def sign_flip_p_values(
    differences: ArrayLike, *, n_flips: int = 9999, seed: int = 0
) -> NDArray[np.float64]:
    """Return how surprising each column's mean difference is if nothing but chance decides signs.

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
        signs = rng.integers(0, 2, shape, dtype=np.int8).astype(np.float32) * 2 - 1
        as_extreme += (np.abs(signs @ single) >= observed).sum(axis=0)
    return (as_extreme + 1) / (n_flips + 1)


def _hoeffding_bound(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    exponent = columns.sum(axis=0) ** 2 / (2 * (columns**2).sum(axis=0))
    return np.asarray(2 * np.exp(-exponent))

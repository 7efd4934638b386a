"""Sums of chances that are known by their logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def add_log_chances(values: ArrayLike, axis: int) -> NDArray[np.float64]:
    """Add chances that are given as logarithms; minus infinity is a chance of 0.

    The same as `scipy.special.logsumexp`, whose import takes a quarter of a second and whose calls
    cost more than the sums of a hundred tests.
    """
    import numpy as np

    logs = np.asarray(values, dtype=np.float64)
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    total: NDArray[np.float64] = sums + top.squeeze(axis)
    return total

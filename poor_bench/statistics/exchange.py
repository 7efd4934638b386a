"""Test of whether scores of the same tests differ, by exchanging trials within each test."""

from __future__ import annotations

from collections.abc import Sequence

_DRAWN = 9_999
_SAME = 1e-9


def exchange_p_value(
    ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]], *, seed: int = 0
) -> float:
    """Compute the chance of the difference in means if all trials of a test are alike.

    It speaks of these tests only. If nothing changed, any trials of a test might be the `ones`;
    tests whose trials agree add no noise, so it finds more than `sign_flip_p_values`.

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
        if np.ptp(scores) > _SAME:
            drawn += rng.permuted(np.tile(scores, (_DRAWN, 1)), axis=1) @ weights
    farther = (np.abs(drawn) > abs(seen) + _SAME).sum()
    as_far = (np.abs(np.abs(drawn) - abs(seen)) <= _SAME).sum()
    return float((farther + as_far / 2 + 0.5) / (_DRAWN + 1))

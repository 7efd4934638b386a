"""Declared levels against measured difficulty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.statistics.correlation import rank_correlation
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.items import Item

_N_ORDERS = 1999


class LevelVerdict(StrEnum):
    """Whether declared levels and measured difficulty go together."""

    FOLLOWS = "follows"
    REVERSED = "reversed"
    UNCLEAR = "unclear"
    """Too few tests, or no order beyond chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOrder:
    """Declared against measured difficulty of the tests of one class."""

    class_id: str
    difficulty: Mapping[int, float]
    """Level to the mean measured difficulty of its tests, 0.0 (all solve it) to 1.0."""
    correlation: Estimate | None
    """Rank correlation of level and measured difficulty, `n` tests; None where it is undefined:
    one level, fewer than 4 tests, or no difference in difficulty."""
    p_value: float
    """How often chance alone orders the tests at least as well, in either direction."""

    @property
    def verdict(self) -> LevelVerdict:
        """What can be said at the 5 % level."""
        if self.correlation is None or self.p_value >= 0.05:
            return LevelVerdict.UNCLEAR
        return LevelVerdict.FOLLOWS if self.correlation.value > 0 else LevelVerdict.REVERSED


def level_orders(items: Iterable[Item], *, seed: int = 0) -> list[LevelOrder]:
    """Return, per class, whether measured difficulty follows the declared levels.

    Args:
        items: Analysed tests; those of unknown level are left out.
        seed: Of the random orders behind the p-values.

    Returns:
        One entry per class in order of first appearance.

    Source:
        `rank_correlation`; p-values by permutation, since levels are few and full of ties: Pitman
        1937, "Significance tests which may be applied to samples from any populations, II",
        Supplement to the Journal of the Royal Statistical Society 4.
    """
    by_class: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.level > 0:
            by_class[item.class_id].append(item)
    return [_order_of(class_id, members, seed) for class_id, members in by_class.items()]


def _order_of(class_id: str, items: list[Item], seed: int) -> LevelOrder:
    by_level: dict[int, list[float]] = defaultdict(list)
    for item in items:
        by_level[item.level].append(1 - item.mean_score)
    levels = [item.level for item in items]
    difficulty = [1 - item.mean_score for item in items]
    correlation = rank_correlation(levels, difficulty)
    return LevelOrder(
        class_id=class_id,
        difficulty={level: sum(hard) / len(hard) for level, hard in sorted(by_level.items())},
        correlation=correlation,
        p_value=1.0 if correlation is None else _chance_of(levels, difficulty, seed),
    )


def _chance_of(levels: list[int], difficulty: list[float], seed: int) -> float:
    import numpy as np
    from scipy import stats

    rng = np.random.default_rng(seed)
    x, y = (stats.rankdata(values) - (len(levels) + 1) / 2 for values in (levels, difficulty))
    observed = abs(x @ y) - 1e-9 * len(levels) ** 3
    as_extreme = sum(bool(abs(rng.permutation(x) @ y) >= observed) for _ in range(_N_ORDERS))
    return (as_extreme + 1) / (_N_ORDERS + 1)

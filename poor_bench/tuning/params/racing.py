"""Which variants are dropped early: pure.

All variants run the same tests in the same order, so that they can be compared test by test. A
variant is dropped as soon as the best one so far is better beyond chance on the tests that both
have done. Looking several times raises the chance of dropping a good one somewhat above 5 %; what
is claimed in the end rests on the variants that ran all tests.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from poor_bench.statistics.intervals import Estimate, paired_interval

Scores = Mapping[str, Mapping[str, float]]
"""Variant id to test id to score."""

LEAST_TESTS = 4
"""Lowest number of tests before a variant is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A dropped variant."""

    variant_id: str
    leader_id: str
    behind: Estimate
    """Mean of leader minus variant on their common tests, with its 95 % interval, above 0."""


def losers(scores: Scores, kept: Collection[str] = ()) -> list[Dropped]:
    """Find variants that are significantly behind the best one.

    Args:
        scores: Of the variants that are still in the race.
        kept: Ids that are never dropped.

    Source:
        The rule is that of Hoeffding races (Maron and Moore 1994, "Hoeffding Races: Accelerating
        Model Selection Search for Classification and Function Approximation", NIPS 6) with the
        paired interval of `poor_bench.statistics` in the place of Hoeffding's bound.

    Example:
        >>> tests = [str(n) for n in range(8)]
        >>> [loser] = losers({"good": dict.fromkeys(tests, 1.0), "bad": dict.fromkeys(tests, 0.0)})
        >>> loser.variant_id, loser.behind.value
        ('bad', 1.0)
    """
    leader = best_of(scores)
    if leader is None:
        return []
    found = []
    for variant_id, own in scores.items():
        if variant_id == leader or variant_id in kept:
            continue
        behind = lead(scores[leader], own)
        if behind is not None and behind.n >= LEAST_TESTS and behind.low > 0:
            found.append(Dropped(variant_id=variant_id, leader_id=leader, behind=behind))
    return found


def best_of(scores: Scores) -> str | None:
    """Choose the variant with the highest mean score among those with most tests, or None."""
    ran = {variant_id: own for variant_id, own in scores.items() if own}
    most = max((len(own) for own in ran.values()), default=0)
    full = {variant_id: mean(own) for variant_id, own in ran.items() if len(own) == most}
    return max(full, key=lambda variant_id: full[variant_id], default=None)


def lead(one: Mapping[str, float], other: Mapping[str, float]) -> Estimate | None:
    """Mean of `one` minus `other` on common tests; None without any."""
    differences = [score - other[test_id] for test_id, score in one.items() if test_id in other]
    return paired_interval(differences) if differences else None


def mean(scores: Mapping[str, float]) -> float:
    """Mean of at least one score."""
    return math.fsum(scores.values()) / len(scores)

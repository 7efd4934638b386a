"""Pairwise comparison of two conversations by one judge; pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate, wilson_interval
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.significance import compute_sign_flip_p_values, holm

_ALPHA = 0.05


class Position(StrEnum):
    """Preference in one request."""

    FIRST = "1"
    """The conversation that was shown first."""
    SECOND = "2"
    NEITHER = "tie"


class PairOutcome(StrEnum):
    """Outcome of a comparison of A and B."""

    A = "A"
    """A is preferred in both orders."""
    B = "B"
    TIE = "tie"
    """Neither is preferred in both orders, or one in one order and neither in the other."""
    SWAYED = "swayed"
    """The order decided: the judge prefers a position, not a conversation."""
    FAILED = "failed"
    """The judge failed in one of the orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison:
    """One case in two runs before one judge, in both orders."""

    case_id: str
    judge: str
    a_first: Position | None
    """Preference with A shown first; None if failed."""
    b_first: Position | None
    """Preference with B shown first."""
    a_first_again: Position | None = None
    """Preference when asked the same again; None if not asked again, or failed."""
    b_first_again: Position | None = None
    reasons: tuple[str, ...] = ()
    """The judge's, in the same order."""
    error: str = ""
    cost_usd: float | None = None
    group: str | None = None
    """Of the case; None for one of its own, and in files of older versions."""

    @property
    def outcome(self) -> PairOutcome:
        """Outcome of both orders."""
        if self.a_first is None or self.b_first is None:
            return PairOutcome.FAILED
        places = self.a_first, self.b_first
        if places == (Position.FIRST, Position.SECOND):
            return PairOutcome.A
        if places == (Position.SECOND, Position.FIRST):
            return PairOutcome.B
        return PairOutcome.TIE if Position.NEITHER in places else PairOutcome.SWAYED

    @property
    def a_scores(self) -> tuple[float, ...]:
        """Score of A in each answer with A first: 1.0 is preferred, 0.5 a tie, 0.0 is not."""
        places = self.a_first, self.a_first_again
        return tuple(_FIRST_SCORES[place] for place in places if place is not None)

    @property
    def a_scores_second(self) -> tuple[float, ...]:
        """Score of A in each answer with B first."""
        places = self.b_first, self.b_first_again
        return tuple(1 - _FIRST_SCORES[place] for place in places if place is not None)


_FIRST_SCORES = {Position.FIRST: 1.0, Position.NEITHER: 0.5, Position.SECOND: 0.0}


def share_of_a(outcomes: Iterable[PairOutcome], groups: Iterable[str | None]) -> Estimate | None:
    """Share of A among comparisons with a winner; None without any."""
    decided = [
        (outcome is PairOutcome.A, group)
        for outcome, group in zip(outcomes, groups, strict=True)
        if outcome in {PairOutcome.A, PairOutcome.B}
    ]
    return _estimate_share([won for won, _ in decided], [group for _, group in decided])


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """Corrected p-values of the two signs of a position bias: both hold together."""

    preference: float
    """That one position is preferred in all pairs together, 0.0 to 1.0."""
    effect: float | None
    """That the order matters, to whichever side; None where nothing was asked again."""

    @property
    def prefers_position(self) -> bool:
        """True if the preference is significant."""
        return self.preference < _ALPHA

    @property
    def depends_on_order(self) -> bool:
        """True if the effect of the order is significant."""
        return self.effect is not None and self.effect < _ALPHA


@dataclass(frozen=True, slots=True)
class PairwiseTally:
    """All comparisons of two runs before one judge; shares have Wilson intervals."""

    comparisons: Sequence[PairComparison]

    def count(self, outcome: PairOutcome) -> int:
        """Number of comparisons with this outcome."""
        return sum(comparison.outcome is outcome for comparison in self.comparisons)

    @property
    def share_of_a(self) -> Estimate | None:
        """How often A wins where the judge prefers the same one in both orders; None for never."""
        outcomes = (comparison.outcome for comparison in self.comparisons)
        return share_of_a(outcomes, (comparison.group for comparison in self.comparisons))

    @property
    def position_bias(self) -> Estimate | None:
        """Share of the comparisons whose winner changes with the order; None if all failed.

        A judge that is merely inconsistent changes its winner, too: see `order_preference` and
        `order_effect`.
        """
        made = self._made
        return _estimate_share(
            [item.outcome is PairOutcome.SWAYED for item in made], _list_groups(made)
        )

    @property
    def first_preference(self) -> Estimate | None:
        """How often the first position won where the order decided."""
        swayed = [
            comparison
            for comparison in self.comparisons
            if comparison.outcome is PairOutcome.SWAYED
        ]
        return _estimate_share(
            [comparison.a_first is Position.FIRST for comparison in swayed], _list_groups(swayed)
        )

    @property
    def order_preference(self) -> Estimate | None:
        """Net preference for the first position, -1.0 to 1.0; None if all failed.

        An inconsistent judge without bias has 0.0 in the long run, however inconsistent it is.
        """
        made = self._made
        return estimate_paired_difference(self._shifts, _list_groups(made)) if made else None

    @property
    def _made(self) -> list[PairComparison]:
        """The comparisons that did not fail."""
        return [item for item in self.comparisons if item.outcome is not PairOutcome.FAILED]

    @property
    def _shifts(self) -> list[float]:
        """Score of A if shown first less that if shown second, by comparison."""
        return [
            statistics.fmean(item.a_scores) - statistics.fmean(item.a_scores_second)
            for item in self._made
        ]

    @property
    def inconsistency(self) -> Estimate | None:
        """Share of the answers that change when the same is asked again in the same order.

        None where nothing was asked again.
        """
        again = self._asked_again
        changes = [_share_changed_again(item) for item in again]
        return mean_score(changes, _list_groups(again)) if changes else None

    @property
    def order_effect(self) -> Estimate | None:
        """Share of the answers that change with the order, beyond `inconsistency`.

        Above 0.0 only if the order matters, to whichever side and in whichever pairs. None where
        nothing was asked again: position bias and inconsistency cannot be separated.
        """
        again = self._asked_again
        beyond = [_share_changed_with_order(item) - _share_changed_again(item) for item in again]
        return estimate_paired_difference(beyond, _list_groups(again)) if beyond else None

    @property
    def order_significance(self) -> PositionBias | None:
        """Test whether the order matters, twice, with Holm's correction; None if all failed.

        If it does not, the answers about a pair might as well have come in any order, and those
        about a group of cases have the preference for a position by chance only. In simulation
        (`benchmarks/statistics/judge_bias.py`) either sign accuses a judge without position bias in
        at most 5 %.
        """
        made = self._made
        if not made:
            return None
        columns = [[shift] for shift in self._shifts]
        preference = float(compute_sign_flip_p_values(columns, groups=_list_groups(made))[0])
        again = self._asked_again
        corrected = holm([preference, _compute_order_p_value(again)] if again else [preference])
        return PositionBias(preference=corrected[0], effect=corrected[1] if again else None)

    @property
    def _asked_again(self) -> list[PairComparison]:
        """The comparisons with two answers in each order."""
        return [item for item in self.comparisons if len(item.a_scores + item.a_scores_second) == 4]


def _share_changed_again(comparison: PairComparison) -> float:
    orders = comparison.a_scores, comparison.a_scores_second
    return statistics.fmean(first != again for first, again in orders)


def _share_changed_with_order(comparison: PairComparison) -> float:
    pairs = product(comparison.a_scores, comparison.a_scores_second)
    return statistics.fmean(first != second for first, second in pairs)


_WEIGHTS = {(2, 2): 2, (1, 1, 2): 1}
"""Of four answers by how often each occurs; others change as often with the order as again."""


def _compute_order_p_value(comparisons: Iterable[PairComparison]) -> float:
    """Compute the chance that answers split by the order at least as often as they do.

    Four answers that may come in any order, such as A, A, B and B, split by it in one of three
    arrangements.

    Args:
        comparisons: With two answers in each order.
    """
    import numpy as np

    chances, seen = np.ones(1), 0
    for item in comparisons:
        counts = Counter(item.a_scores + item.a_scores_second)
        weight = _WEIGHTS.get(tuple(sorted(counts.values())), 0)
        if weight:
            chances = np.convolve(chances, [2 / 3, *[0.0] * (weight - 1), 1 / 3])
            seen += weight * (_share_changed_with_order(item) > _share_changed_again(item))
    return float(chances[seen:].sum())


def _list_groups(comparisons: Iterable[PairComparison]) -> list[str | None] | None:
    """List the group of each comparison; None if no case has one."""
    groups = [comparison.group for comparison in comparisons]
    return groups if any(groups) else None


def _estimate_share(flags: Sequence[bool], groups: Sequence[str | None] | None) -> Estimate | None:
    """Estimate a share: Wilson's interval, and that of `mean_score` where cases have groups."""
    n = len(flags)
    if n == 0:
        return None
    if groups and any(groups):
        return mean_score([float(flag) for flag in flags], groups)
    low, high = wilson_interval(sum(flags) / n, n)
    return Estimate(value=sum(flags) / n, low=low, high=high, n=n)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPreferences:
    """PairwiseTally by judge, and what the judges decide together."""

    by_judge: dict[str, PairwiseTally]
    by_case: dict[str, PairOutcome]
    """A or B where more judges prefer it in both orders than prefer the other one; failed where no
    judge could say anything; a tie else."""
    groups: dict[str, str | None]
    """Case id to the group of the case."""
    n_unanimous: int
    """Cases with several judges who all say the same."""

    @property
    def share_of_a(self) -> Estimate | None:
        """How often A wins among the cases with a winner; None where there is none."""
        return share_of_a(self.by_case.values(), (self.groups[name] for name in self.by_case))

    @property
    def is_panel(self) -> bool:
        """True for several judges."""
        return len(self.by_judge) > 1


def combine_judges(comparisons: Iterable[PairComparison]) -> PanelPreferences:
    """Combine comparisons by any number of judges."""
    by_judge: dict[str, list[PairComparison]] = {}
    by_case: dict[str, list[PairOutcome]] = {}
    groups: dict[str, str | None] = {}
    for comparison in comparisons:
        by_judge.setdefault(comparison.judge, []).append(comparison)
        by_case.setdefault(comparison.case_id, []).append(comparison.outcome)
        groups[comparison.case_id] = comparison.group
    return PanelPreferences(
        by_judge={judge: PairwiseTally(held) for judge, held in by_judge.items()},
        by_case={case_id: _join_outcomes(said) for case_id, said in by_case.items()},
        groups=groups,
        n_unanimous=sum(len(said) > 1 and len(set(said)) == 1 for said in by_case.values()),
    )


def _join_outcomes(said: Sequence[PairOutcome]) -> PairOutcome:
    """Decide by majority of the judges."""
    if len(set(said)) == 1:
        return said[0]
    for_a, for_b = said.count(PairOutcome.A), said.count(PairOutcome.B)
    if for_a != for_b:
        return PairOutcome.A if for_a > for_b else PairOutcome.B
    return PairOutcome.TIE

"""Pairwise comparison of two conversations by one judge; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.statistics.intervals import Estimate, wilson_interval


class Place(StrEnum):
    """Preference in one request."""

    FIRST = "1"
    """The conversation that was shown first."""
    SECOND = "2"
    NEITHER = "tie"


class Outcome(StrEnum):
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
class Duel:
    """One case in two runs before one judge, in both orders."""

    case_id: str
    judge: str
    a_first: Place | None
    """Preference with A shown first; None if failed."""
    b_first: Place | None
    """Preference with B shown first."""
    reasons: tuple[str, ...] = ()
    """The judge's, in the same order."""
    error: str = ""
    cost_usd: float | None = None

    @property
    def outcome(self) -> Outcome:
        """Outcome of both orders."""
        if self.a_first is None or self.b_first is None:
            return Outcome.FAILED
        places = self.a_first, self.b_first
        if places == (Place.FIRST, Place.SECOND):
            return Outcome.A
        if places == (Place.SECOND, Place.FIRST):
            return Outcome.B
        return Outcome.TIE if Place.NEITHER in places else Outcome.SWAYED


def share_of_a(outcomes: Iterable[Outcome]) -> Estimate | None:
    """Share of A among comparisons with a winner; None without any."""
    listed = list(outcomes)
    won, lost = listed.count(Outcome.A), listed.count(Outcome.B)
    return _share(won, won + lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duels:
    """All duels of two runs before one judge."""

    duels: tuple[Duel, ...]

    def count(self, outcome: Outcome) -> int:
        """Number of comparisons with this outcome."""
        return sum(duel.outcome is outcome for duel in self.duels)

    @property
    def share_of_a(self) -> Estimate | None:
        """How often A wins where the judge prefers the same one in both orders; None for never."""
        return share_of_a(duel.outcome for duel in self.duels)

    @property
    def position_bias(self) -> Estimate | None:
        """Share of the duels whose winner changes with the order; None without a whole duel."""
        n = len(self.duels) - self.count(Outcome.FAILED)
        return _share(self.count(Outcome.SWAYED), n)

    @property
    def first_preference(self) -> Estimate | None:
        """Among duels that the order decided: how often the first place won, else the second."""
        swayed = [duel for duel in self.duels if duel.outcome is Outcome.SWAYED]
        n_first = sum(duel.a_first is Place.FIRST for duel in swayed)
        return _share(n_first, len(swayed))


def duels_of(duels: Sequence[Duel]) -> Duels:
    """Summarise comparisons, with Wilson intervals."""
    return Duels(duels=tuple(duels))


def _share(count: int, n: int) -> Estimate | None:
    if n == 0:
        return None
    low, high = wilson_interval(count / n, n)
    return Estimate(value=count / n, low=low, high=high, n=n)

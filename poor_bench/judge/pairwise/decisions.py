"""Combined decisions of several judges; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poor_bench.judge.pairwise.duel import Duel, Duels, Outcome, duels_of, share_of_a
from poor_bench.statistics.intervals import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """Duels by judge, and what the judges decide together."""

    by_judge: dict[str, Duels]
    by_case: dict[str, Outcome]
    """A or B where more judges prefer it in both orders than prefer the other one; failed where no
    judge could say anything; a tie else."""
    n_unanimous: int
    """Cases with several judges who all say the same."""

    @property
    def share_of_a(self) -> Estimate | None:
        """How often A wins among the cases with a winner; None where there is none."""
        return share_of_a(self.by_case.values())

    @property
    def is_panel(self) -> bool:
        """True for several judges."""
        return len(self.by_judge) > 1


def decisions_of(duels: Iterable[Duel]) -> Decisions:
    """Combine comparisons by any number of judges."""
    by_judge: dict[str, list[Duel]] = {}
    by_case: dict[str, list[Outcome]] = {}
    for duel in duels:
        by_judge.setdefault(duel.judge, []).append(duel)
        by_case.setdefault(duel.case_id, []).append(duel.outcome)
    return Decisions(
        by_judge={judge: duels_of(held) for judge, held in by_judge.items()},
        by_case={case_id: _together(said) for case_id, said in by_case.items()},
        n_unanimous=sum(len(said) > 1 and len(set(said)) == 1 for said in by_case.values()),
    )


def _together(said: Sequence[Outcome]) -> Outcome:
    """Decide by majority of the judges."""
    if len(set(said)) == 1:
        return said[0]
    for_a, for_b = said.count(Outcome.A), said.count(Outcome.B)
    if for_a != for_b:
        return Outcome.A if for_a > for_b else Outcome.B
    return Outcome.TIE

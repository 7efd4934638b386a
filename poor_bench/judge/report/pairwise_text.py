"""Pairwise comparisons in sentences; pure."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.judge.pairwise.decisions import Decisions
from poor_bench.judge.pairwise.duel import Duels, Outcome
from poor_bench.statistics.intervals import Estimate


def duels_text(duels: Duels) -> Iterator[str]:
    """Describe the winner, its significance, and the position bias."""
    yield (
        f"A better: {duels.count(Outcome.A)}, B better: {duels.count(Outcome.B)}, "
        f"tie: {duels.count(Outcome.TIE)}, decided by order: {duels.count(Outcome.SWAYED)}, "
        f"not judged: {duels.count(Outcome.FAILED)}"
    )
    share = duels.share_of_a
    if share is not None:
        yield f"A wins {_percent(share)} of the pairs with a winner: {_verdict(share)}."
    bias = duels.position_bias
    if bias is not None:
        yield f"Position bias: the order decides {_percent(bias)} of the pairs."
    first = duels.first_preference
    if first is not None:
        yield f"In these, the first position wins {_percent(first)}."


def panel_text(decisions: Decisions) -> Iterator[str]:
    """Describe the panel's decision and its unanimity."""
    said = list(decisions.by_case.values())
    yield (
        f"Together: A better: {said.count(Outcome.A)}, B better: {said.count(Outcome.B)}, "
        f"of {len(said)} cases; unanimous: {decisions.n_unanimous}."
    )
    share = decisions.share_of_a
    if share is not None:
        yield f"A wins {_percent(share)} of the cases with a winner: {_verdict(share)}."


def _verdict(share: Estimate) -> str:
    if share.low > 0.5:
        return "A is better"
    return "B is better" if share.high < 0.5 else "no significant difference"


def _percent(share: Estimate) -> str:
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.value:.0f} % ({low:.0f} to {high:.0f} %, n = {share.n})"

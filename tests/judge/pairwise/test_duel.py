from __future__ import annotations

import pytest

from poor_bench.judge.pairwise.duel import Duel, Outcome, Place, duels_of
from poor_bench.judge.report.pairwise_text import duels_text

FIRST, SECOND, NEITHER = Place.FIRST, Place.SECOND, Place.NEITHER


def duel(a_first: Place | None, b_first: Place | None) -> Duel:
    return Duel(case_id="x", judge="j", a_first=a_first, b_first=b_first)


A, B, SWAYED = duel(FIRST, SECOND), duel(SECOND, FIRST), duel(FIRST, FIRST)


@pytest.mark.parametrize(
    ("a_first", "b_first", "outcome"),
    [
        (FIRST, SECOND, Outcome.A),
        (SECOND, FIRST, Outcome.B),
        (FIRST, FIRST, Outcome.SWAYED),
        (SECOND, SECOND, Outcome.SWAYED),
        (NEITHER, NEITHER, Outcome.TIE),
        (FIRST, NEITHER, Outcome.TIE),
        (NEITHER, FIRST, Outcome.TIE),
        (None, FIRST, Outcome.FAILED),
        (FIRST, None, Outcome.FAILED),
    ],
)
def test_only_a_winner_in_both_orders_wins(
    a_first: Place | None, b_first: Place | None, outcome: Outcome
) -> None:
    assert duel(a_first, b_first).outcome is outcome


def test_shares_leave_out_what_does_not_belong() -> None:
    duels = duels_of(
        [A, A, A, B, SWAYED, duel(SECOND, SECOND), duel(NEITHER, FIRST), duel(None, FIRST)]
    )
    assert duels.share_of_a is not None
    assert (duels.share_of_a.value, duels.share_of_a.n) == (0.75, 4)
    assert duels.position_bias is not None
    assert (duels.position_bias.value, duels.position_bias.n) == (2 / 7, 7)
    assert duels.first_preference is not None
    assert (duels.first_preference.value, duels.first_preference.n) == (0.5, 2)


def test_intervals_are_wilsons() -> None:
    bias = duels_of([SWAYED] * 8 + [A] * 2).position_bias
    assert bias is not None
    assert (bias.low, bias.high) == pytest.approx((0.490, 0.943), abs=0.001)


def test_nothing_gives_no_figure() -> None:
    duels = duels_of([duel(None, None)])
    assert (duels.share_of_a, duels.position_bias, duels.first_preference) == (None, None, None)


def test_few_duels_name_no_winner() -> None:
    assert "no significant difference" in "\n".join(duels_text(duels_of([A, A])))
    assert "A is better" in "\n".join(duels_text(duels_of([A] * 20)))
    assert "B is better" in "\n".join(duels_text(duels_of([B] * 20)))

from __future__ import annotations

import pytest

from poor_bench.judge.pairwise_results import (
    PairComparison,
    PairOutcome,
    Position,
    tally_comparisons,
)
from poor_bench.judge.report_text import tally_text

FIRST, SECOND, NEITHER = Position.FIRST, Position.SECOND, Position.NEITHER


def comparison(a_first: Position | None, b_first: Position | None) -> PairComparison:
    return PairComparison(case_id="x", judge="j", a_first=a_first, b_first=b_first)


A, B, SWAYED = comparison(FIRST, SECOND), comparison(SECOND, FIRST), comparison(FIRST, FIRST)


@pytest.mark.parametrize(
    ("a_first", "b_first", "outcome"),
    [
        (FIRST, SECOND, PairOutcome.A),
        (SECOND, FIRST, PairOutcome.B),
        (FIRST, FIRST, PairOutcome.SWAYED),
        (SECOND, SECOND, PairOutcome.SWAYED),
        (NEITHER, NEITHER, PairOutcome.TIE),
        (FIRST, NEITHER, PairOutcome.TIE),
        (NEITHER, FIRST, PairOutcome.TIE),
        (None, FIRST, PairOutcome.FAILED),
        (FIRST, None, PairOutcome.FAILED),
    ],
)
def test_only_a_winner_in_both_orders_wins(
    a_first: Position | None, b_first: Position | None, outcome: PairOutcome
) -> None:
    assert comparison(a_first, b_first).outcome is outcome


def test_shares_leave_out_what_does_not_belong() -> None:
    comparisons = tally_comparisons(
        [
            A,
            A,
            A,
            B,
            SWAYED,
            comparison(SECOND, SECOND),
            comparison(NEITHER, FIRST),
            comparison(None, FIRST),
        ]
    )
    assert comparisons.share_of_a is not None
    assert (comparisons.share_of_a.value, comparisons.share_of_a.n) == (0.75, 4)
    assert comparisons.position_bias is not None
    assert (comparisons.position_bias.value, comparisons.position_bias.n) == (2 / 7, 7)
    assert comparisons.first_preference is not None
    assert (comparisons.first_preference.value, comparisons.first_preference.n) == (0.5, 2)


def test_intervals_are_wilsons() -> None:
    bias = tally_comparisons([SWAYED] * 8 + [A] * 2).position_bias
    assert bias is not None
    assert (bias.low, bias.high) == pytest.approx((0.490, 0.943), abs=0.001)


def test_nothing_gives_no_figure() -> None:
    comparisons = tally_comparisons([comparison(None, None)])
    assert (comparisons.share_of_a, comparisons.position_bias, comparisons.first_preference) == (
        None,
        None,
        None,
    )


def test_few_duels_name_no_winner() -> None:
    assert "no significant difference" in "\n".join(tally_text(tally_comparisons([A, A])))
    assert "A is better" in "\n".join(tally_text(tally_comparisons([A] * 20)))
    assert "B is better" in "\n".join(tally_text(tally_comparisons([B] * 20)))

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from poor_bench.judge.pairwise_results import (
    PairComparison,
    PairOutcome,
    PairwiseTally,
    Position,
    combine_judges,
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
    comparisons = PairwiseTally(
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
    bias = PairwiseTally([SWAYED] * 8 + [A] * 2).position_bias
    assert bias is not None
    assert (bias.low, bias.high) == pytest.approx((0.490, 0.943), abs=0.001)


def test_nothing_gives_no_figure() -> None:
    comparisons = PairwiseTally([comparison(None, None)])
    assert (comparisons.share_of_a, comparisons.position_bias, comparisons.first_preference) == (
        None,
        None,
        None,
    )


def test_few_duels_name_no_winner() -> None:
    assert "no significant difference" in "\n".join(tally_text(PairwiseTally([A, A])))
    assert "A is better" in "\n".join(tally_text(PairwiseTally([A] * 20)))
    assert "B is better" in "\n".join(tally_text(PairwiseTally([B] * 20)))


def test_no_winner_is_named_where_many_pairs_were_not_judged() -> None:
    failed = comparison(None, None)
    told = "\n".join(tally_text(PairwiseTally([A] * 20 + [failed] * 3)))
    assert "20 of 23 were judged, too few to name the better one" in told
    assert "A is better." not in told
    assert "A is better." in "\n".join(tally_text(PairwiseTally([A] * 20 + [failed] * 2)))


def asked_again(*places: Position | None) -> PairComparison:
    """Build a comparison with A first, B first, and both again."""
    a_first, b_first, a_again, b_again = places
    return PairComparison(
        case_id="x",
        judge="j",
        a_first=a_first,
        b_first=b_first,
        a_first_again=a_again,
        b_first_again=b_again,
    )


def test_an_inconsistent_judge_has_no_position_bias() -> None:
    rng = random.Random(1)
    places = [rng.choice([FIRST, SECOND]) for _ in range(200)]
    tally = PairwiseTally([asked_again(*places[n : n + 4]) for n in range(0, 200, 4)])
    assert tally.position_bias is not None
    assert tally.position_bias.low > 0.3
    assert tally.order_preference is not None
    assert tally.order_preference.low < 0 < tally.order_preference.high
    assert tally.inconsistency is not None
    assert 0.3 < tally.inconsistency.value < 0.7
    assert tally.order_effect is not None
    assert tally.order_effect.low < 0 < tally.order_effect.high
    told = "\n".join(tally_text(tally))
    assert "Position bias" not in told
    assert "more: not significant" in told


def test_a_judge_that_likes_the_first_place_has_position_bias() -> None:
    tally = PairwiseTally([asked_again(FIRST, FIRST, FIRST, FIRST)] * 20)
    assert tally.order_preference is not None
    assert tally.order_preference.low > 0.5
    assert tally.order_effect is not None
    assert tally.order_effect.low > 0.5
    assert tally.inconsistency is not None
    assert tally.inconsistency.value == 0.0
    told = "\n".join(tally_text(tally))
    assert "Position bias: the first position is preferred" in told
    assert "more: position bias" in told


def test_a_bias_whose_side_depends_on_the_pair_is_found_by_repeats() -> None:
    pairs = [asked_again(FIRST, FIRST, FIRST, FIRST), asked_again(SECOND, SECOND, SECOND, SECOND)]
    tally = PairwiseTally(pairs * 10)
    assert tally.order_preference is not None
    assert tally.order_preference.value == 0.0
    assert tally.order_effect is not None
    assert tally.order_effect.low > 0.5


def test_without_repeats_both_cannot_be_separated() -> None:
    tally = PairwiseTally([SWAYED, A, asked_again(FIRST, FIRST, None, FIRST)])
    assert (tally.inconsistency, tally.order_effect) == (None, None)
    assert "position bias or inconsistency: use --again" in "\n".join(tally_text(tally))


@pytest.mark.slow(reason="simulates thousands of samples")
def test_two_tests_of_the_order_accuse_a_guessing_judge_seldom_enough() -> None:
    rng = random.Random(15)
    accused = 0
    for _ in range(400):
        places = [rng.choice([FIRST, SECOND]) for _ in range(160)]
        pairs = [asked_again(*places[n : n + 4]) for n in range(0, 160, 4)]
        found = PairwiseTally(pairs).order_significance
        assert found is not None
        accused += found.prefers_position or found.depends_on_order
    assert accused <= 20


def test_answers_split_by_the_order_have_a_chance_of_a_third_each() -> None:
    first, second = [FIRST] * 4, [SECOND] * 4
    ties = [[FIRST, FIRST, FIRST, NEITHER], [SECOND, SECOND, SECOND, NEITHER]]
    by_chance = [FIRST, FIRST, SECOND, SECOND]
    for pairs, chance in (
        ([first, second], 1 / 9),
        (ties, 1 / 9),
        ([first, second, by_chance], 7 / 27),
        ([first, second, [FIRST, SECOND, SECOND, SECOND]], 1 / 9),
    ):
        found = PairwiseTally([asked_again(*places) for places in pairs]).order_significance
        assert found is not None
        assert found.effect == pytest.approx(2 * chance)  # the smaller of two p-values


def test_failed_pairs_have_no_order() -> None:
    assert PairwiseTally([]).order_significance is None


def test_cases_of_one_group_count_together() -> None:
    won = [replace(A, case_id=str(n)) for n in range(20)]
    lost = [replace(B, case_id=str(n)) for n in range(20, 25)]
    alone = PairwiseTally([*won, *lost])
    grouped = PairwiseTally(
        [replace(item, group=f"scenario {n // 5}") for n, item in enumerate(alone.comparisons)]
    )
    assert alone.share_of_a is not None
    assert grouped.share_of_a is not None
    assert grouped.share_of_a.value == alone.share_of_a.value == 0.8
    assert (alone.share_of_a.n, grouped.share_of_a.n) == (25, 5)
    assert grouped.share_of_a.margin > 1.5 * alone.share_of_a.margin
    assert alone.share_of_a.low > 0.5 > grouped.share_of_a.low
    panel = combine_judges(grouped.comparisons)
    assert panel.share_of_a == grouped.share_of_a


def test_a_preference_for_a_position_in_few_groups_is_not_significant() -> None:
    alone = [replace(SWAYED, case_id=str(n)) for n in range(20)]
    grouped = [replace(item, group=str(n // 5)) for n, item in enumerate(alone)]
    tests = [PairwiseTally(items).order_significance for items in (alone, grouped)]
    assert [bias.prefers_position for bias in tests if bias] == [True, False]
    assert PairwiseTally(grouped).order_preference.n == 4
    assert PairwiseTally(grouped).position_bias.n == 4

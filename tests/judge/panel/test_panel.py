from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.judgement import Judgement
from poor_bench.judge.panel import PanelDecision, combine_judgements
from tests.judge.run_builders import fallback, judgement_of

scores = st.lists(st.floats(0, 10), min_size=1, max_size=6)


def judged(**overall: float) -> list[Judgement]:
    return [judgement_of(score, judge=judge) for judge, score in overall.items()]


def test_judge_that_was_asked_more_often_does_not_count_more() -> None:
    panel = combine_judgements([judgement_of(9, judge="a")] * 3 + [judgement_of(5, judge="b")], 8.0)
    assert panel.overall_score == 7.0
    assert panel.disagreement == 4.0
    assert panel.n_approving == 1
    assert not panel.is_approved


def test_one_strange_judge_moves_the_mean_and_not_the_median() -> None:
    judgements = judged(a=9, b=8, c=1)
    assert combine_judgements(judgements, 8.0).overall_score == 6.0
    median = combine_judgements(judgements, 8.0, PanelDecision.MEDIAN)
    assert median.overall_score == 8.0
    assert median.is_approved


def test_majority_counts_judges() -> None:
    close = judged(a=8, b=8, c=0)
    assert combine_judgements(close, 8.0, PanelDecision.MAJORITY).is_approved
    tie = judged(a=10, b=7)
    assert not combine_judgements(tie, 8.0, PanelDecision.MAJORITY).is_approved
    assert combine_judgements(tie, 8.0, PanelDecision.MEAN).is_approved


@pytest.mark.parametrize("decision", PanelDecision)
def test_fallbacks_enter_no_figure_and_approve_nothing(decision: PanelDecision) -> None:
    judgements = [judgement_of(9, judge="a"), fallback("a"), fallback("b")]
    panel = combine_judgements(judgements, 4.0, decision)
    assert panel.overall_score == 9.0
    assert panel.n_fallbacks == 2
    assert [member.judge for member in panel.voters] == ["a"]
    assert not panel.is_approved
    assert combine_judgements([fallback("a")], 4.0, decision).overall_score is None


def test_repeats_of_one_judge_show_its_spread() -> None:
    panel = combine_judgements(
        [judgement_of(score, cases={"hello": score}) for score in (6, 8)], 7.0
    )
    [member] = panel.members
    assert member.overall is not None
    assert (member.overall.low, member.overall.high) == (6, 8)
    assert member.dimensions["tone"].mean == 7
    assert panel.case_scores == {"hello": 7.0}
    assert panel.alpha is None
    assert panel.is_approved


def test_judges_that_rank_cases_alike_have_a_high_alpha() -> None:
    alike = [judgement_of(5, judge=name, cases={"x": 2, "y": 5, "z": 9}) for name in "ab"]
    apart = [
        judgement_of(5, judge="a", cases={"x": 2, "y": 5, "z": 9}),
        judgement_of(5, judge="b", cases={"x": 9, "y": 5, "z": 2}),
    ]
    assert combine_judgements(alike, 8.0).alpha == pytest.approx(1.0)
    of_apart = combine_judgements(apart, 8.0).alpha
    assert of_apart is not None
    assert of_apart < 0


def test_self_judging_of_one_member_is_flagged() -> None:
    judgements = [judgement_of(5, judge="a"), judgement_of(5, judge="b", is_self_judged=True)]
    assert combine_judgements(judgements, 8.0).is_self_judged


@given(scores)
def test_decisions_stay_within_the_judges_scores(given_scores: list[float]) -> None:
    judgements = [judgement_of(score, judge=str(n)) for n, score in enumerate(given_scores)]
    for decision in PanelDecision:
        score = combine_judgements(judgements, 8.0, decision).overall_score
        assert score is not None
        assert min(given_scores) - 0.006 <= score <= max(given_scores) + 0.006

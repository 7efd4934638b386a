from __future__ import annotations

from typing import Any

import pytest

from poor_bench.judge.judged_run import JudgeRun, summarise_run
from poor_bench.judge.run_comparison import RunComparison, compare_runs
from tests.judge.run_builders import conversation_of, fallback, judgement_of, run_of


def run(run_id: str, *scores: float, **fields: Any) -> JudgeRun:
    judgements = [judgement_of(score, cases={"hello": score}) for score in scores]
    return run_of(*judgements, run_id=run_id, repeat=len(scores), **fields)


def compare(before: JudgeRun, after: JudgeRun, *history: JudgeRun) -> RunComparison:
    return compare_runs(summarise_run(before), summarise_run(after), history)


def test_summary_has_every_cases_feedback_and_the_noise() -> None:
    summary = summarise_run(run("1", 6, 8))
    [case] = summary.cases
    assert (case.score, case.n_passed) == (7.0, 2)
    assert [item.text for item in case.feedback] == ["6!", "8!"]
    assert summary.noise == pytest.approx(4.303 * 1.5**0.5 * 2**0.5, abs=0.01)
    assert summarise_run(run("1", 7)).noise is None


def test_fallback_is_neither_feedback_nor_approval() -> None:
    summary = summarise_run(run_of(judgement_of(9, cases={"hello": 9}), fallback(), repeat=2))
    assert len(summary.cases[0].feedback) == 1
    assert summary.panel.is_approved
    assert not summary.is_approved


def test_difference_within_the_judges_noise_is_marked() -> None:
    changes = compare(run("1", 5.0, 6.0, 7.0), run("2", 6.0, 7.0, 8.0)).scores
    assert [(change.name, change.is_noise) for change in changes] == [
        ("overall", True),
        ("tone", True),
    ]
    sure = compare(run("1", 5.0, 5.1, 4.9), run("2", 7.0, 7.1, 6.9))
    assert [change.is_noise for change in (*sure.scores, *sure.cases)] == [False] * 3


def test_earlier_runs_of_the_same_judges_tell_of_the_noise() -> None:
    before, after = run("1", 5.0), run("2", 7.0)
    [unknown, _] = compare(before, after).scores
    assert unknown.floor is None
    assert unknown.is_noise
    [known, _] = compare(before, after, run("0", 5.0, 5.1, 5.0, 5.1)).scores
    assert not known.is_noise
    [other_judge, _] = compare(before, after, run("0", 5.0, 5.1, judges=("b",))).scores
    assert other_judge.floor is None


def test_means_of_more_judgements_have_a_lower_floor() -> None:
    history = run("0", 5.0, 6.0, 7.0, 6.0)
    [single, _] = compare(run("1", 5.0), run("2", 7.0), history).scores
    [double, _] = compare(run("1", 5.0, 5.0), run("2", 7.0, 7.0), history).scores
    assert single.floor is not None
    assert double.floor is not None
    assert double.floor < single.floor / 2**0.5 + 1e-9


def test_what_should_not_be_compared_is_named() -> None:
    other = (conversation_of("bye", "Bye"),)
    after = run("2", 7.0, rubric_hash="r2", judges=("b",), conversations=other, ended="")
    obstacles = "; ".join(compare(run("1", 5.0), after).obstacles)
    assert "rubrics differ" in obstacles
    assert "judges differ: a and b" in obstacles
    assert "the cases differ" in obstacles
    assert compare(run("1", 5.0), run("2", 7.0)).obstacles == ()


def test_where_only_the_cases_differ_those_that_both_have_compare() -> None:
    more = (conversation_of("hello", "Hi", "Hello"), conversation_of("bye", "Bye"))
    comparison = compare(run("1", 5.0), run("2", 7.0, conversations=more))
    assert comparison.obstacles == ("the cases differ",)
    assert [comparison.is_comparable(change) for change in comparison.scores] == [False, False]
    assert [comparison.is_comparable(change) for change in comparison.cases] == [True]
    other_judge = compare(run("1", 5.0), run("2", 7.0, judges=("b",)))
    assert not any(map(other_judge.is_comparable, other_judge.cases))


def test_incomplete_run_is_an_obstacle() -> None:
    after = run_of(fallback(), run_id="2")
    comparison = compare(run("1", 5.0), after)
    assert comparison.obstacles == ("2 is incomplete",)
    assert comparison.scores == ()

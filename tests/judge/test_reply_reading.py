from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.judge.prompt import JudgedCase
from poor_bench.judge.reply import compute_weighted_mean, read_verdict
from poor_bench.judge.rubric import Dimension, Rubric
from tests.judge.judging import TWO, verdict

GREETING = JudgedCase(name="greeting", turns=())


def test_overall_score_is_computed_and_the_judges_own_is_not_looked_at() -> None:
    reading = read_verdict(verdict(8, 4, overall_score=10), TWO, [GREETING])
    assert reading.overall_score == 7.0
    assert reading.repairs == ()


@pytest.mark.parametrize(
    ("stated", "score"),
    [(8, 8.0), (7.5, 7.5), ("8", 8.0), ("8/10", 8.0), ("7,5 out of 10", 7.5), ({"score": 3}, 3.0)],
)
def test_scores_are_read_in_many_forms(stated: Any, score: float) -> None:
    reading = read_verdict(verdict(tone=stated), TWO, [GREETING])
    assert reading.scores["tone"] == score
    assert reading.repairs == ()


@pytest.mark.parametrize(("stated", "score"), [(12, 10.0), (-3, 0.0), (1e300, 10.0), ("11", 10.0)])
def test_scores_out_of_range_are_clamped_and_reported(stated: Any, score: float) -> None:
    reading = read_verdict(verdict(tone=stated), TWO, [GREETING])
    assert reading.scores["tone"] == score
    assert any("scores.tone" in repair and "clamped" in repair for repair in reading.repairs)


@pytest.mark.parametrize("stated", [None, True, "good", [], {}, "8/100"])
def test_scores_that_are_none_are_filled_in_and_reported(stated: Any) -> None:
    reading = read_verdict(verdict(tone=stated), TWO, [GREETING])
    assert reading.scores["tone"] == 5.0
    assert reading.missing == ("tone",)
    assert any("scores.tone is missing" in repair for repair in reading.repairs)


def test_missing_lists_and_cases_are_filled_in_and_reported() -> None:
    cases = [GREETING, JudgedCase(name="price", turns=(), passed=True)]
    reading = read_verdict({"scores": {"tone": 1, "facts": 1}, "strengths": "one"}, TWO, cases)
    assert reading.texts["strengths"] == ("one",)
    assert reading.texts["weaknesses"] == ()
    assert [case.passed for case in reading.test_case_evaluations] == [False, True]
    assert [case.score for case in reading.test_case_evaluations] == [5.0, 5.0]
    assert [case.is_unscored for case in reading.test_case_evaluations] == [True, True]
    assert reading.unscored == (1, 2)
    assert (
        "weaknesses, failures, warnings, recommendations missing: treated as empty"
        in reading.repairs
    )
    assert any("test_case_evaluations[price].score" in repair for repair in reading.repairs)


def case(name: str = "", **more: Any) -> dict[str, Any]:
    return ({"test_name": name} if name else {}) | {"score": 1, "passed": False} | more


@pytest.mark.parametrize(
    "stated",
    [
        [case(case=2, score=9), case(case=1, score=3)],
        [case("price", score=9), case("Greeting ", score=3)],
        [case(score=3), case(score=9)],
        [case("greeting", score=3), case("price", score=9), case("another", score=1)],
    ],
    ids=["by number", "by name", "by place", "with one too many"],
)
def test_evaluations_find_their_cases(stated: list[dict[str, Any]]) -> None:
    cases = [GREETING, JudgedCase(name="price", turns=())]
    reading = read_verdict(verdict(test_case_evaluations=stated), TWO, cases)
    found = [(item.test_name, item.score) for item in reading.test_case_evaluations]
    assert found == [("greeting", 3.0), ("price", 9.0)]


def test_cases_of_one_name_are_taken_in_order() -> None:
    stated = [case("greeting", score=3), case("greeting", score=9)]
    reading = read_verdict(verdict(test_case_evaluations=stated), TWO, [GREETING, GREETING])
    assert [item.score for item in reading.test_case_evaluations] == [3.0, 9.0]


@pytest.mark.parametrize("stated", [None, "none", {}, [1, "a", None], [[]]])
def test_lists_that_are_none_do_no_harm(stated: Any) -> None:
    hostile = dict.fromkeys(verdict(), stated) | {"scores": {"tone": 1, "facts": 1}}
    reading = read_verdict(hostile, TWO, [GREETING])
    assert len(reading.test_case_evaluations) == 1
    assert all(isinstance(text, str) for text in reading.texts["strengths"])


rated = st.lists(st.tuples(st.floats(0.5, 100), st.floats(0, 10)), min_size=1, max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(rated)
def test_the_mean_lies_between_the_scores(rated: list[tuple[float, float]]) -> None:
    rubric = Rubric("r", tuple(Dimension(f"d{n}", w) for n, (w, _) in enumerate(rated)))
    scores = {f"d{n}": score for n, (_, score) in enumerate(rated)}
    mean = compute_weighted_mean(scores, rubric)
    assert min(scores.values()) - 0.005 <= mean <= max(scores.values()) + 0.005
    assert mean == pytest.approx(
        sum(weight * score for weight, score in rated) / sum(weight for weight, _ in rated),
        abs=0.0051,
    )


@given(st.fixed_dictionaries(dict.fromkeys(verdict(), json_values)))
def test_any_verdict_is_read_into_scores_within_range(hostile: dict[str, Any]) -> None:
    reading = read_verdict(hostile, TWO, [GREETING])
    stated = [reading.overall_score, *reading.scores.values()]
    stated += [item.score for item in reading.test_case_evaluations]
    assert all(0 <= score <= 10 for score in stated)
    assert set(reading.scores) == set(TWO.names)

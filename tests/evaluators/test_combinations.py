from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import EvaluatorError
from poor_bench.plugins import find_project_evaluators, load_evaluators

REGISTRY = load_evaluators([find_project_evaluators()])
NUMBER = {"name": "number_match", "parameters": {"expected": 18}}
WORD = {"name": "contains", "parameters": {"all": ["apples", "pears"]}}


@pytest.mark.parametrize(("name", "score"), [("all_of", 0.5), ("any_of", 1.0), ("weighted", 0.75)])
def test_scores_are_combined_and_every_part_is_told(name, score):
    verdict = REGISTRY.get(name).evaluate("18 apples", {"evaluators": [NUMBER, WORD]})
    assert verdict.score == score
    assert "- number_match 1.00: correct" in verdict.details
    assert "- contains 0.50: lacks 'pears'" in verdict.details


def test_weights_count():
    parts = [NUMBER | {"weight": 3}, WORD]
    assert REGISTRY.get("weighted").evaluate("18 apples", {"evaluators": parts}).score == 0.875


def test_strict_scores_are_combined_apart():
    verdict = REGISTRY.get("all_of").evaluate("18 apples and pears", {"evaluators": [NUMBER, WORD]})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    verdict = REGISTRY.get("any_of").evaluate("18", {"evaluators": [NUMBER, WORD]})
    assert verdict.strict_score is None


def test_combinations_can_be_nested():
    inner = {"name": "any_of", "parameters": {"evaluators": [NUMBER, WORD]}}
    parameters = {"evaluators": [inner, NUMBER]}
    assert REGISTRY.get("all_of").evaluate("18", parameters).score == 1.0
    assert REGISTRY.get("all_of").check_parameters(parameters) == []


def test_wrong_parts_are_found_before_a_run():
    parts = [{"name": "number_mach"}, {"name": "choice", "parameters": {"expectd": "A"}}]
    problems = REGISTRY.get("weighted").check_parameters({"evaluators": parts})
    assert [problem.place for problem in problems] == [
        "evaluators[0].name",
        "evaluators[1].parameters.expected",
        "evaluators[1].parameters.expectd",
    ]
    assert "`number_match`" in problems[0].hint
    assert "`expected`" in problems[2].hint


def test_part_that_breaks_is_a_failure_of_ours():
    slow = {"name": "regex_match", "parameters": {"pattern": "(a|a)+$", "timeout_s": 0.05}}
    with pytest.raises(EvaluatorError, match="regex_match"):
        REGISTRY.get("all_of").evaluate("a" * 5_000 + "b", {"evaluators": [NUMBER, slow]})


@given(st.permutations([NUMBER, WORD, {"name": "choice", "parameters": {"expected": "A"}}]))
def test_order_of_the_parts_does_not_count(parts):
    for name in ("all_of", "any_of", "weighted"):
        evaluator = REGISTRY.get(name)
        expected = evaluator.evaluate("A: 18 apples", {"evaluators": sorted(parts, key=str)}).score
        score = evaluator.evaluate("A: 18 apples", {"evaluators": parts}).score
        assert score == pytest.approx(expected)

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.number_match import evaluate, reference


@pytest.mark.parametrize(
    ("parameters", "response", "score"),
    [
        ({"expected": 18}, "18.0", 1.0),
        ({"expected": "1,234"}, "$1,234.00", 1.0),
        ({"expected": 3.14159, "absolute_tolerance": 0.01}, "3.14", 1.0),
        ({"expected": 3.14159, "absolute_tolerance": 0.001}, "3.14", 0.0),
        ({"expected": 200, "relative_tolerance": 0.05}, "190", 1.0),
        ({"expected": 200, "relative_tolerance": 0.05}, "189.9", 0.0),
        ({"expected": -200, "relative_tolerance": 0.05}, "-210", 1.0),
        ({"expected": 0.45}, "45%", 1.0),
        ({"expected": 45}, "45%", 1.0),
        ({"expected": "0.1"}, "0.10000000000000000000000000000000001", 0.0),
    ],
)
def test_numbers_within_tolerance_are_right(parameters, response, score):
    assert evaluate(response, parameters).score == score


def test_number_in_prose_counts_but_not_strictly():
    verdict = evaluate("First 3, then 18 apples", {"expected": 18})
    assert (verdict.score, verdict.strict_score, verdict.found) == (1.0, 0.0, "in prose")
    assert evaluate("18 apples", {"expected": 18, "strict": True}).score == 0.0
    assert evaluate("18", {"expected": 18, "strict": True}).score == 1.0


def test_no_number_is_told():
    verdict = evaluate("none", {"expected": 18})
    assert (verdict.details, verdict.found) == ("expected 18, found no number", "missing")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"expected": "x"}, {"expected": 1, "absolute_tolerance": -1}, {"expected": 1, "tol": 1}],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("1", parameters)


def test_reference_is_right_strictly():
    parameters = {"expected": "1e3", "strict": True}
    assert evaluate(reference(parameters), parameters).score == 1.0


@pytest.mark.parametrize(
    "response", ['{"a": 5, "b": 4}', "```json\n[5, 4]\n```", '{"a": {"x": 5}, "b": 4}']
)
def test_json_with_several_numbers_gives_no_answer(response):
    assert evaluate(response, {"expected": 4}).score == 0.0


@pytest.mark.parametrize("response", ['{"result": 4, "why": "2 + 2"}', '{"answer": 4, "steps": 2}'])
def test_the_number_of_an_object_is_found(response):
    verdict = evaluate(response, {"expected": 4})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)

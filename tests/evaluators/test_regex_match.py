from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.regex_match import evaluate


@pytest.mark.parametrize(
    ("parameters", "response", "score"),
    [
        ({"pattern": r"\d{4}"}, "in 1984!", 1.0),
        ({"pattern": r"\d{4}"}, "in 84", 0.0),
        ({"pattern": "YES"}, "yes", 1.0),
        ({"pattern": "YES", "ignore_case": False}, "yes", 0.0),
        ({"pattern": "^b$"}, "a\nb", 1.0),
        ({"pattern": "a.b"}, "a\nb", 0.0),
        ({"pattern": "a.b", "dot_all": True}, "a\nb", 1.0),
        ({"pattern": r"\d+", "must": "match_all"}, " 12\n", 1.0),
        ({"pattern": r"\d+", "must": "match_all"}, "12 apples", 0.0),
        ({"pattern": "sorry", "must": "not_occur"}, "Sorry, no", 0.0),
        ({"pattern": "sorry", "must": "not_occur"}, "Fine", 1.0),
        ({"pattern": "sorry", "must": "not_occur"}, "", 0.0),
        ({"pattern": r"year (\d+)", "group": 1, "expected": "1984"}, "year 1, year 1984", 1.0),
        ({"pattern": r"year (?P<y>\d+)", "group": "y", "expected": "1"}, "year 2", 0.0),
        ({"pattern": "a", "expected": "A"}, "<think>b</think>a", 1.0),
    ],
)
def test_answer_is_as_the_pattern_demands(parameters, response, score):
    assert evaluate(response, parameters).score == score


def test_last_match_is_compared_and_told():
    verdict = evaluate("1 then 2", {"pattern": r"\d", "expected": "1"})
    assert verdict.details == "expected '1', got '2'"
    assert (verdict.expected, verdict.got) == ("1", "2")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"pattern": "("}, {"pattern": "a", "group": 1}, {"pattern": "a", "group": "x"},
     {"pattern": "a", "must": "not_occur", "expected": "a"}, {"pattern": ""}],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("x", parameters)


def test_endless_search_is_a_fault_of_the_pattern():
    parameters = {"pattern": "(a|a)+$", "timeout_s": 0.1}
    with pytest.raises(TimeoutError, match=r"'\(a\|a\)\+\$' took longer than 0.1 s"):
        evaluate("a" * 5_000 + "b", parameters)


def test_answers_without_a_match_stay_different_answers():
    london, rome = (evaluate(answer, {"pattern": "Paris"}) for answer in ("London", "Rome"))
    assert (london.got, rome.got) == ("London", "Rome")

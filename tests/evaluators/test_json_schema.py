from __future__ import annotations

import json

import pytest
from hypothesis import given
from pydantic import ValidationError

from evaluators.json_schema import evaluate, reference, wants
from poor_bench.scoring.verdict import AnswerFormat
from tests.extraction.strategies import json_values

SCHEMA = {
    "schema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name"],
    }
}
EXPECTED = {"expected": {"name": "Ann", "tags": ["a", "b"], "home": {"city": "Rome", "zip": 1}}}


def test_valid_answer_scores_one_and_an_invalid_one_zero():
    assert evaluate('{"name": "Ann", "age": 3}', SCHEMA).score == 1.0
    verdict = evaluate('{"age": "3"}', SCHEMA)
    assert verdict.score == 0.0
    assert "$.age: '3' is not of type 'integer'" in verdict.details
    assert "'name' is a required property" in verdict.details


def test_score_is_the_share_of_right_fields_and_wrong_ones_are_named():
    got = {"name": "Ann", "tags": ["a", "c"], "home": {"city": "Paris"}, "more": 1}
    verdict = evaluate(json.dumps(got), EXPECTED)
    assert verdict.score == pytest.approx(2 / 5)
    assert verdict.details == (
        "$.tags[1]: expected 'b', got 'c'; $.home.city: expected 'Rome', got 'Paris'; "
        "$.home.zip: missing"
    )


def test_other_fields_count_only_where_they_are_forbidden():
    got = json.dumps(EXPECTED["expected"] | {"more": 1})
    assert evaluate(got, EXPECTED).score == 1.0
    verdict = evaluate(got, EXPECTED | {"forbid_other_fields": True})
    assert verdict.score == pytest.approx(5 / 6)
    assert verdict.details == "$.more: not expected"


@pytest.mark.parametrize(
    ("expected", "got", "score"),
    [(1, 1.0, 1.0), (True, 1, 0.0), (1, True, 0.0), ("1", 1, 0.0), (None, None, 1.0), ([], [], 1.0),
     ({}, [], 0.0), ([], {"a": 1}, 0.0), (None, False, 0.0)],
)  # fmt: skip
def test_values_of_other_types_differ_but_for_numbers(expected, got, score):
    assert evaluate(json.dumps({"v": got}), {"expected": {"v": expected}}).score == score


def test_badly_wrapped_json_counts_but_not_strictly():
    verdict = evaluate('```json\n{"name": "Ann",}\n```', SCHEMA)
    assert (verdict.score, verdict.strict_score, verdict.found) == (1.0, 0.0, "repaired")
    assert evaluate('Sure: {"name": "Ann"}', SCHEMA | {"strict": True}).score == 0.0


def test_answer_without_json_scores_zero():
    assert evaluate("Ann", SCHEMA).details == "found no JSON"


@pytest.mark.parametrize(
    "parameters",
    [{}, {"schema": {"type": "nonsense"}}, {"schema": "x"}, {"expected": 3}, SCHEMA | {"x": 1}],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("{}", parameters)


def test_wanted_format_follows_schema_and_expected_values():
    assert wants(SCHEMA) is AnswerFormat.JSON_OBJECT
    assert wants({"expected": [1]}) is AnswerFormat.JSON_LIST
    assert wants({"schema": {}}) is AnswerFormat.JSON


@given(json_values)
def test_every_expected_value_is_right_by_itself(value):
    parameters = {"expected": {"v": value}, "strict": True, "forbid_other_fields": True}
    assert evaluate(reference(parameters), parameters).score == 1.0

"""Detectors read what evaluators say: these tests join the real ones, so that no wording drifts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluators import (
    choice,
    json_schema,
    list_match,
    math_evaluator,
    number_match,
    python_evaluator,
    sentiment_evaluator,
)
from poor_bench.extraction.found import Found
from poor_bench.issues.facts import describe_test
from poor_bench.models.test import EvaluatorSpec
from tests.issues.builders import ids_of, scored, tax_of

DOUBLE = {
    "function_name": "double",
    "test_cases": [{"input": [2], "expected_output": 4}],
    "execution_timeout": 30,
}
CHECKED = {
    "function_name": "double",
    "check_source": "def check(candidate):\n    assert candidate(2) == 4",
    "execution_timeout": 30,
}
MOODS = {"expected_sentiments": ["positive", "negative"]}
PERSON = {
    "schema": {"type": "object", "properties": {"age": {"type": "integer"}}},
    "expected": {"age": 30},
}


def found_by_detectors(evaluator: Any, response: str, parameters: dict[str, Any]) -> list[str]:
    verdict = evaluator.evaluate(response, parameters)
    name = evaluator.__name__.rpartition(".")[2]
    result = scored(
        verdict.score,
        response=response,
        details=verdict.details,
        strict_score=verdict.strict_score,
        found=verdict.found,
        expected=verdict.expected,
        got=verdict.got,
        cause=verdict.cause,
    )
    spec = EvaluatorSpec(name, parameters)
    facts = describe_test("c", spec, lambda spec: evaluator.wants(spec.parameters))
    found = ids_of(result, facts)
    if evaluator is python_evaluator:
        older = replace(result, cause="")
        assert ids_of(older, facts) == found, "a row of an older version has another issue"
    return found


@pytest.mark.parametrize("parameters", [DOUBLE, CHECKED], ids=["cases", "check"])
@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("def twice(x):\n    return x + x", "invented_function_name"),
        ("def double():\n    return 4", "arguments_do_not_fit"),
        ("def double(x, y):\n    return x + y", "arguments_do_not_fit"),
        ("import no_such_module\n\ndef double(x):\n    return 4", "missing_module"),
        ("def double(x):\n    return (x", "code_does_not_parse"),
        ("def double(x):\n    while True:\n        pass", "code_is_slow"),
        ("def double(x):\n    return x / 0", "code_crashes"),
        ("def double(x):\n    return thrice(x)", "code_crashes"),
        ("def double(x):\n    raise TimeoutError('timed out')", "code_crashes"),
        ("import os\n\ndef double(x):\n    os._exit(1)", "code_crashes"),
        ("Just prose, no code.", "answer_not_found"),
    ],
)
def test_the_fault_of_code_is_read_from_the_evaluator(
    code: str, cause: str, parameters: dict[str, Any]
) -> None:
    if cause == "code_is_slow":
        parameters = parameters | {"execution_timeout": 1}
    assert found_by_detectors(python_evaluator, code, parameters) == [cause]


@pytest.mark.parametrize(
    "value", ["'timed out'", "'ValueError'", "'syntax error'", "'No module named x'"]
)
def test_what_code_returns_is_not_taken_for_what_the_evaluator_says(value: str) -> None:
    code = f"def double(x):\n    print({value})\n    return {value}"
    assert found_by_detectors(python_evaluator, code, DOUBLE) == []


@pytest.mark.parametrize(
    ("evaluator", "parameters", "response", "cause"),
    [
        (math_evaluator, {"expected_answer": "9"}, "So the answer is 9.", "wrapped_in_prose"),
        (math_evaluator, {"expected_answer": "9"}, "So the answer is 8.", "wrapped_in_prose"),
        (math_evaluator, {"expected_answer": "9"}, "9\nThat is it.", "wrapped_in_prose"),
        (math_evaluator, {"expected_answer": "9"}, '```\n{"answer": 9}\n```', "wrapped_in_fence"),
        (math_evaluator, {"expected_answer": "9"}, "9", "wrong_type"),
        (math_evaluator, {"expected_answer": "9"}, "{'answer': 9}", "almost_json"),
        (math_evaluator, {"expected_answer": "9"}, "I like numbers.", "answer_not_found"),
        (sentiment_evaluator, MOODS, '["positive"]', "wrong_count"),
        (sentiment_evaluator, MOODS, '{"moods": ["positive", "negative"]}', "object_for_list"),
        (sentiment_evaluator, MOODS, 'So: ["positive", "negative"]', "wrapped_in_prose"),
        (sentiment_evaluator, MOODS, "positive, negative", "wrong_type"),
        (
            sentiment_evaluator,
            MOODS,
            "positive, it seems to me\nnegative, it seems to me",
            "wrapped_in_prose",
        ),
        (sentiment_evaluator, MOODS, "They sound nice.", "answer_not_found"),
        (list_match, {"expected": ["a", "b"]}, '["c"]', "wrong_count"),
        (json_schema, PERSON, "[30]", "wrong_type"),
        (json_schema, PERSON, 'Here: {"age": 30}', "wrapped_in_prose"),
        (json_schema, PERSON, "Thirty years.", "answer_not_found"),
        (number_match, {"expected": "9"}, "None of it.", "answer_not_found"),
        (choice, {"expected": "B", "choices": ["A", "B"]}, "Well, hm.", "answer_not_found"),
    ],
)
def test_the_fault_of_form_is_read_from_the_evaluator(
    evaluator: Any, parameters: dict[str, Any], response: str, cause: str
) -> None:
    assert found_by_detectors(evaluator, response, parameters) == [cause]


@pytest.mark.parametrize(
    ("evaluator", "parameters", "response"),
    [
        (math_evaluator, {"expected_answer": "9"}, '{"answer": 8}'),
        (sentiment_evaluator, MOODS, '["negative", "negative"]'),
        (json_schema, PERSON, '{"age": 31}'),
        (python_evaluator, DOUBLE, "```python\ndef double(x):\n    return 5\n```"),
    ],
)
def test_a_wrong_answer_in_the_right_form_has_no_fault_of_form(
    evaluator: Any, parameters: dict[str, Any], response: str
) -> None:
    assert found_by_detectors(evaluator, response, parameters) == []


@pytest.mark.parametrize("found", [way for way in Found if way.wrapping])
def test_every_wrapping_that_evaluators_tell_is_a_fault_with_a_mend_of_its_own(
    found: Found,
) -> None:
    told = scored(1.0, response="...", strict_score=0.0, found=found)
    [row], [other] = tax_of([told]), tax_of([replace(told, found="in another way")])
    assert len(ids_of(told)) == 1
    assert row.fix != other.fix

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluators.math_evaluator import evaluate, reference, wants
from poor_bench.scoring.verdict import AnswerFormat
from tests.extraction.strategies import hostile_text, json_values

EIGHTEEN = {"expected_answer": "18"}


def test_bare_answer_keeps_the_format_rule():
    verdict = evaluate('{"answer": 18}', EIGHTEEN)
    assert verdict == (1.0, "correct: expected 18.00, got 18.00")
    assert (verdict.strict_score, verdict.found) == (None, "bare")
    assert (verdict.expected, verdict.got) == ("18.00", "18.00")
    assert verdict.extracted == '{"answer": 18}'


WRAPPED = {
    "fenced": '```json\n{"answer": 18}\n```',
    "tildes": '~~~\n{"answer": 18}\n~~~',
    "after prose": 'Of course! {"answer": 18}',
    "repaired": "{'answer': 18,}",
    "in a list": '[{"answer": 18}]',
    "text": '{"answer": "18"}',
    "money": '{"answer": "$18.00"}',
    "unit": '{"answer": "18 apples"}',
    "other case": '{"Answer": 18}',
    "other key": '{"result": 18}',
    "bare number": "18",
    "boxed": r"\boxed{18}",
    "announced": "The answer is 18, as 3 * 6 shows.",
    "fenced number": "```json\n18\n```",
}


@pytest.mark.parametrize("response", WRAPPED.values(), ids=WRAPPED)
def test_badly_wrapped_answer_counts_but_not_strictly(response):
    verdict = evaluate(response, EIGHTEEN)
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert "wrong format" in verdict.details


@pytest.mark.parametrize("response", WRAPPED.values(), ids=WRAPPED)
def test_strict_refuses_what_is_wrapped(response):
    verdict = evaluate(response, EIGHTEEN | {"strict": True})
    assert (verdict.score, verdict.strict_score) == (0.0, 0.0)
    assert "wrong format" in verdict.details


def test_thinking_is_no_fault_of_format_but_is_told():
    response = '<think>Maybe {"answer": 3}?</think>\n{"answer": 18}'
    verdict = evaluate(response, EIGHTEEN | {"strict": True})
    assert (verdict.score, verdict.strict_score) == (1.0, None)
    assert "after thinking" in verdict.details


@pytest.mark.parametrize(
    "answer",
    ["true", "NaN", "Infinity", "[18]", "null", '{"value": 18}', '"eighteen"', '"1 or 18"'],
)
def test_what_is_no_number_is_not_right(answer):
    verdict = evaluate(f'{{"answer": {answer}}}', EIGHTEEN)
    assert verdict.score == 0.0


@pytest.mark.parametrize("response", ["", "I do not know.", "3 apples, then 18", "{}", "[]"])
def test_without_an_answer_the_score_is_zero(response):
    verdict = evaluate(response, EIGHTEEN)
    assert (verdict.score, verdict.found) == (0.0, "missing")


@pytest.mark.parametrize(
    ("got", "expected", "precision", "score"),
    [
        ("2.5", "2.50", 2, 1.0),
        ("0.333", "0.3333", 2, 1.0),
        ("0.335", "0.33", 2, 0.0),
        ("0.335", "0.34", 2, 1.0),
        ("17.6", "18", 0, 1.0),
        ("-0.001", "0", 2, 1.0),
        ("1e2", 100, 2, 1.0),
        ("0.1", 0.1, 10, 1.0),
        ('"45%"', "0.45", 2, 1.0),
        ('"1/3"', "0.33", 2, 1.0),
        ("1234567890123456789012345.67", "1234567890123456789012345.68", 2, 0.0),
        ("1e999999", "18", 2, 0.0),
    ],
)
def test_numbers_are_compared_after_rounding(got, expected, precision, score):
    parameters = {"expected_answer": expected, "precision": precision}
    assert evaluate(f'{{"answer": {got}}}', parameters).score == score


def test_wrong_answer_says_expected_and_got():
    assert evaluate('{"answer": 17}', EIGHTEEN).details == "incorrect: expected 18.00, got 17.00"


def test_last_of_several_answers_counts():
    assert evaluate('{"answer": 3}, no, {"answer": 18}', EIGHTEEN).score == 1.0


def test_plain_number_is_the_format_where_it_is_asked_for():
    parameters = EIGHTEEN | {"expected_format": "number"}
    assert evaluate("18", parameters).strict_score is None
    verdict = evaluate("3 apples, then 18", parameters)
    assert (verdict.score, verdict.strict_score, verdict.found) == (1.0, 0.0, "in prose")
    assert wants(parameters) is AnswerFormat.NUMBER
    assert wants(EIGHTEEN) is AnswerFormat.JSON_OBJECT


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"expected_answer": "eighteen"},
        {"expected_answer": True},
        {"expected_answer": None},
        {"expected_answer": float("nan")},
        EIGHTEEN | {"precision": -1},
        EIGHTEEN | {"expected_format": "xml"},
        EIGHTEEN | {"precison": 2},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("18", parameters)


@pytest.mark.parametrize("answer", ["18", "-0.5", "$1,234.50", "1e3", "1/3"])
@pytest.mark.parametrize("expected_format", ["json", "number"])
def test_reference_is_right_in_the_right_format(answer, expected_format):
    parameters = {"expected_answer": answer, "expected_format": expected_format, "strict": True}
    assert evaluate(reference(parameters), parameters).score == 1.0


@given(hostile_text | json_values.map(lambda value: json.dumps({"answer": value})), st.booleans())
def test_any_response_gets_a_score(response, strict):
    verdict = evaluate(response, EIGHTEEN | {"strict": strict})
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.strict_score is None or verdict.strict_score <= verdict.score


AMBIGUOUS = {
    "object": '{"a": 5, "b": 4}',
    "fenced object": '```json\n{"a": 5, "b": 4}\n```',
    "object in prose": 'Here you are: {"a": 5, "b": 4}',
    "single quotes": "{'a': 5, 'b': 4}",
    "cut off": '{"a": 5, "b": 4',
    "nested objects": '{"a": {"x": 5}, "b": {"y": 4}}',
    "list of objects": '[{"a": 5}, {"b": 4}]',
    "list in an object": '{"values": [5, 4]}',
    "list": "[5, 4]",
    "texts": '{"a": "5", "b": "4 apples"}',
    "two answers": '{"first answer": 5, "second answer": 4}',
    "two objects with answers": '{"q1": {"answer": 5}, "q2": {"answer": 4}}',
    "several objects": '{"a": 5, "b": 3}\n{"a": 5, "b": 4}',
    "yaml": "a: 5\nb: 4",
    "bullets": "- apples: 5\n- pears: 4",
}


@pytest.mark.parametrize("response", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_one_of_several_numbers_is_no_answer(response):
    assert evaluate(response, {"expected_answer": 4}).score == 0.0


NAMED_AMONG_OTHERS = {
    "key": '{"steps": 3, "answer": 4}',
    "key in other case": '{"steps": 3, "Answer": 4}',
    "word in the key": '{"final_answer": 4, "confidence": 0.9}',
    "only number": '{"explanation": "12 boxes of 3 to 9", "result": 4, "ok": true}',
    "in another object": '{"result": {"answer": 4}, "steps": 7}',
    "object, then words": 'Parts: {"a": 5, "b": 9}. The answer is 4.',
    "yaml with a total": "apples: 1\npears: 3\nTotal: 4",
    "yaml with an answer": "steps: 2\nanswer: 4",
}


@pytest.mark.parametrize("response", NAMED_AMONG_OTHERS.values(), ids=NAMED_AMONG_OTHERS)
def test_a_named_answer_counts_beside_other_numbers(response):
    assert evaluate(response, {"expected_answer": 4}).score == 1.0

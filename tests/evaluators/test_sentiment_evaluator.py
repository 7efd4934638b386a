from __future__ import annotations

import json

import pytest
from hypothesis import given
from pydantic import ValidationError

from evaluators.sentiment_evaluator import evaluate, reference, wants
from poor_bench.scoring.verdict import AnswerFormat
from tests.extraction.strategies import hostile_text, json_values

EXPECTED = {"expected_sentiments": ["positive", "negative", "neutral"]}


def test_bare_list_keeps_the_format_rule():
    verdict = evaluate('["positive", "negative", "neutral"]', EXPECTED)
    assert verdict == (1.0, "3 of 3 right")
    assert (verdict.strict_score, verdict.found) == (None, "bare")


def test_case_and_punctuation_do_not_count():
    verdict = evaluate('["Positive.", " NEGATIVE ", "neutral!"]', EXPECTED)
    assert (verdict.score, verdict.strict_score) == (1.0, None)


def test_score_is_the_share_of_right_items_and_wrong_ones_are_named():
    verdict = evaluate('["positive", "positive", "mixed"]', EXPECTED)
    assert verdict.score == pytest.approx(1 / 3)
    assert "item 2: expected negative, got positive" in verdict.details
    assert "item 3: expected neutral, got mixed" in verdict.details
    assert verdict.got == "positive, positive, mixed"


@pytest.mark.parametrize("items", [[], ["positive"], ["positive", "negative", "neutral", "x"]])
def test_wrong_length_scores_zero_and_says_so(items):
    verdict = evaluate(json.dumps(items), EXPECTED)
    assert verdict == (0.0, f"expected 3 sentiments, got {len(items)}")


WRAPPED = {
    "fenced": '```json\n["positive", "negative", "neutral"]\n```',
    "in prose": 'Sure: ["positive", "negative", "neutral"].',
    "in an object": '{"sentiments": ["positive", "negative", "neutral"]}',
    "objects": '[{"text": "a", "sentiment": "positive"}, {"sentiment": "negative"},'
    ' {"label": "neutral"}]',
    "single quotes": "['positive', 'negative', 'neutral']",
    "comment": '["positive", // good\n "negative", "neutral"]',
    "lines": "positive\nnegative\nneutral",
    "numbered": "1. I love it: **positive**\n2. Negative\n3. It is neutral",
    "commas": "positive, negative, neutral",
    "labelled": "Text 1: positive; text 2 is negative; text 3 - neutral",
    "labels first": "Positive: what a day!\nNegative: it tore.\nNeutral: it is not red.",
}


@pytest.mark.parametrize("response", WRAPPED.values(), ids=WRAPPED)
def test_badly_wrapped_list_counts_but_not_strictly(response):
    verdict = evaluate(response, EXPECTED)
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert evaluate(response, EXPECTED | {"strict": True}).score == 0.0


@pytest.mark.parametrize(
    "item", ["null", "true", "1", "[]", "{}", '{"sentiment": 3}', '["positive"]']
)
def test_item_that_is_no_text_is_wrong(item):
    verdict = evaluate(f'[{item}, "negative", "neutral"]', EXPECTED)
    assert verdict.score == pytest.approx(2 / 3)
    assert verdict.strict_score == 0.0
    assert "got no sentiment" in verdict.details


PROSE = [
    "The text is positive, with a neutral tone, as far as it is negative.",
    "Yes, each text is positive, negative or neutral.",
    "The first is a positive text.\nThe second one is not.\nThe third is neutral",
    "The bag is positive.\n\nThe bike tore.\n\nIt is neutral.",
]


@pytest.mark.parametrize("response", PROSE)
def test_prose_that_mentions_sentiments_is_no_list(response):
    assert evaluate(response, EXPECTED) == (0.0, "found no list")


@pytest.mark.parametrize(
    "response",
    ["positive", "The text is positive.", '{"sentiment": "positive"}', "Positive, and not bad."],
)
def test_sole_sentiment_of_a_short_text_counts_where_one_is_expected(response):
    verdict = evaluate(response, {"expected_sentiments": ["positive"]})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert evaluate(response, {"expected_sentiments": ["negative"]}).score == 0.0


@pytest.mark.parametrize(
    "response",
    ["The text is positive, with a neutral tone.", "It is not positive.", "positive " * 30],
)
def test_unclear_or_long_text_gives_no_sentiment(response):
    assert evaluate(response, {"expected_sentiments": ["positive"]}).score == 0.0


@pytest.mark.parametrize("response", ["", "I cannot tell.", "{}", "[1, 2, 3]", "positive"])
def test_no_list_scores_zero(response):
    assert evaluate(response, EXPECTED).score == 0.0


def test_reference_is_right_in_the_right_format():
    verdict = evaluate(reference(EXPECTED), EXPECTED | {"strict": True})
    assert (verdict.score, verdict.strict_score) == (1.0, None)
    assert wants(EXPECTED) is AnswerFormat.JSON_LIST


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"expected_sentiments": []},
        {"expected_sentiments": ["positive", " "]},
        {"expected_sentiments": "positive"},
        EXPECTED | {"response_format": "prose"},
        EXPECTED | {"format": "list"},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("[]", parameters)


@given(hostile_text | json_values.map(lambda value: json.dumps([value] * 3)))
def test_any_response_gets_a_score(response):
    verdict = evaluate(response, EXPECTED)
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.strict_score is None or verdict.strict_score <= verdict.score

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.list_match import evaluate, wants
from poor_bench.scoring.verdict import AnswerFormat

COLOURS = {"expected": ["red", "green", "blue"]}
AS_SET = COLOURS | {"compare": "set"}


@pytest.mark.parametrize(
    "response", ['["Red", "green", "blue"]', "- red\n- green\n- blue", "red, green, blue."]
)
def test_every_notation_is_read(response):
    verdict = evaluate(response, COLOURS)
    assert (verdict.score, verdict.strict_score) == (1.0, None)


def test_where_json_is_asked_for_other_notations_are_not_strictly_right():
    verdict = evaluate("red, green, blue", COLOURS | {"format": "json"})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert wants({**COLOURS, "format": "json"}) is AnswerFormat.JSON_LIST
    assert wants(COLOURS) is AnswerFormat.LIST


@pytest.mark.parametrize(
    ("parameters", "response", "score", "details"),
    [
        (COLOURS, '["red", "blue", "green"]', 1 / 3, "item 2: expected 'green', got 'blue'"),
        (COLOURS, '["red", "green"]', 2 / 3, "2 items, expected 3"),
        (COLOURS, '["red", "green", "blue", "x"]', 3 / 4, "4 items, expected 3"),
        (AS_SET, '["blue", "red", "green"]', 1.0, "3 of 3 found"),
        (AS_SET, '["blue", "blue", "x"]', 1 / 4, "missing: 'red', 'green'; extra: 'x'"),
        ({"expected": [1, 2.5]}, '["1.0", "5/2"]', 1.0, "2 of 2 right"),
        (COLOURS, "[]", 0.0, "0 items, expected 3"),
        (COLOURS, "red", 0.0, "found no list"),
        ({"expected": ["red"]}, "Red.", 1.0, "1 of 1 right"),
        ({"expected": [5]}, "5", 1.0, "1 of 1 right"),
        (COLOURS, "The colours are red, green and blue.", 1.0, "3 of 3 right"),
    ],
)
def test_score_is_what_the_lists_have_in_common(parameters, response, score, details):
    verdict = evaluate(response, parameters)
    assert verdict.score == pytest.approx(score)
    assert details in verdict.details


@given(st.lists(st.sampled_from("abcdef"), max_size=6), st.randoms())
def test_order_does_not_count_in_a_set(items, rng: random.Random):
    shuffled = rng.sample(items, len(items))
    parameters = {"expected": ["a", "b", "c"], "compare": "set"}
    ours, theirs = (evaluate(str(each).replace("'", '"'), parameters) for each in (items, shuffled))
    assert ours.score == theirs.score

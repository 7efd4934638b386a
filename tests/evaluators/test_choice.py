from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.choice import evaluate


def test_label_alone_keeps_the_format_rule():
    verdict = evaluate("(b)", {"expected": "B"})
    assert verdict == (1.0, "correct: expected B, got B")
    assert verdict.strict_score is None


def test_announced_label_counts_but_not_strictly():
    verdict = evaluate("Not A. The answer is B.", {"expected": "B"})
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert evaluate("The answer is B.", {"expected": "B", "strict": True}).score == 0.0


def test_wrong_and_missing_choices_are_told_apart():
    assert evaluate("A", {"expected": "B"}).details == "incorrect: expected B, got A"
    assert evaluate("A or B", {"expected": "B"}).found == "missing"


def test_labels_follow_the_number_of_choices():
    parameters = {"expected": "E", "choices": ["one", "two", "three", "four", "five"]}
    assert evaluate("E", parameters).score == 1.0
    assert evaluate("It is five", parameters).score == 1.0


@pytest.mark.parametrize(
    "parameters",
    [{}, {"expected": "E"}, {"expected": "A", "labels": ["1", "2"]},
     {"expected": "1", "labels": ["1", "2"], "choices": ["a", "b", "c"]},
     {"expected": "A", "labels": ["A", "a"]}, {"expected": "A", "labels": ["A", ""]}],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("A", parameters)

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evaluators.text_similarity import evaluate

CAT = {"expected": "the cat sat on the mat"}


@pytest.mark.parametrize("metric", ["rouge_l", "chrf", "edit"])
def test_nearer_answers_score_higher(metric):
    parameters = CAT | {"metric": metric}
    answers = ["The cat sat on the mat", "The cat sat on a mat", "A cat sits there", "zzz"]
    scores = [evaluate(answer, parameters).score for answer in answers]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


def test_threshold_makes_it_a_yes_or_no():
    assert evaluate("The cat sat on a mat", CAT | {"threshold": 0.8}).score == 1.0
    verdict = evaluate("The cat sat on a mat", CAT | {"threshold": 0.9})
    assert verdict == (0.0, "rouge_l 0.833, threshold 0.9")


def test_nearest_reference_counts():
    verdict = evaluate("a dog", {"expected": ["the cat", "a dog"]})
    assert (verdict.score, verdict.expected) == (1.0, "a dog")


def test_no_answer_scores_zero():
    assert evaluate("<think>the cat sat</think>", CAT) == (0.0, "no answer")


@pytest.mark.parametrize(
    "parameters", [{}, {"expected": ""}, {"expected": []}, CAT | {"metric": "bleu"}], ids=str
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("x", parameters)

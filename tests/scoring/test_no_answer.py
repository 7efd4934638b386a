from __future__ import annotations

import pytest

from poor_bench.models.completion import FinishReason
from poor_bench.scoring.verdict import Verdict, explain_cut_off, explain_no_answer, list_flags


def test_answer_is_left_to_the_evaluator() -> None:
    assert explain_no_answer("4", finish=FinishReason.STOP) is None


@pytest.mark.parametrize(
    ("finish", "unclosed", "words"),
    [
        (FinishReason.LENGTH, False, "truncated at the token limit"),
        (FinishReason.LENGTH, True, "while still thinking"),
        (FinishReason.REFUSAL, False, "refused"),
        (FinishReason.LOOP, False, "repetition"),
        (FinishReason.STOP, False, "empty"),
    ],
)
def test_missing_answer_is_told_apart_from_a_wrong_one(
    finish: FinishReason, unclosed: bool, words: str
) -> None:
    verdict = explain_no_answer(" \n", finish=finish, thinking_is_unclosed=unclosed)
    assert verdict is not None
    assert verdict.score == 0
    assert verdict.details.startswith("No answer")
    assert words in verdict.details


def test_zero_after_a_cut_is_called_no_answer_and_a_right_answer_counts() -> None:
    wrong, right = Verdict(0.0, "no number", found="in prose"), Verdict(1.0, "right")
    explained = explain_cut_off(wrong, FinishReason.LENGTH)
    assert explained.details == "No answer: truncated at the token limit. no number"
    assert explained.found == "in prose"
    assert explain_cut_off(right, FinishReason.LENGTH) is right
    assert explain_cut_off(wrong, FinishReason.STOP) is wrong


def test_marks_say_all_that_is_remarkable() -> None:
    marks = list_flags(
        finish=FinishReason.LENGTH,
        prompt_truncated=True,
        thinking_is_unclosed=True,
        has_answer=False,
    )
    assert marks == ("truncated", "no_answer", "unclosed_thinking", "prompt_truncated")

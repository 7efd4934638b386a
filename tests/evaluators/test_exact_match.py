from __future__ import annotations

import pytest

from evaluators.exact_match import evaluate

YES = {"expected": "Yes, sir"}


@pytest.mark.parametrize("response", ["Yes, sir", " yes, SIR.\n", '"Yes, sir!"', "**Yes,  sir**"])
def test_case_space_and_punctuation_around_do_not_count(response):
    verdict = evaluate(response, YES)
    assert (verdict.score, verdict.strict_score) == (1.0, None)


def test_exact_counts_them():
    assert evaluate("yes, sir", YES | {"exact": True}).score == 0.0
    assert evaluate("Yes, sir\n", YES | {"exact": True}).score == 1.0


def test_code_block_is_compared_too_but_not_strictly():
    verdict = evaluate("Here:\n```\nYes, sir\n```", YES)
    assert (verdict.score, verdict.strict_score, verdict.found) == (1.0, 0.0, "fenced")
    assert evaluate("```\nYes, sir\n```", YES | {"strict": True}).score == 0.0


def test_text_within_other_text_is_not_the_whole_answer():
    verdict = evaluate("I say: Yes, sir", YES)
    assert verdict.score == 0.0
    assert "expected 'Yes, sir', got 'I say: Yes, sir'" in verdict.details


def test_each_of_several_is_right():
    assert evaluate("two", {"expected": ["2", "two"]}).score == 1.0


def test_an_answer_of_signs_is_no_other_one():
    assert evaluate("!", {"expected": "?"}).score == 0.0
    assert evaluate("", {"expected": "?"}).score == 0.0
    assert evaluate("?", {"expected": "?"}).score == 1.0


def test_unicode_form_does_not_count_where_all_else_does():
    decomposed = "Cafe\N{COMBINING ACUTE ACCENT}"
    wanted = {"expected": "Caf\N{LATIN SMALL LETTER E WITH ACUTE}", "exact": True}
    assert evaluate(decomposed, wanted).score == 1.0

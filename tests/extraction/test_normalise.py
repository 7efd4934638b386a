from __future__ import annotations

import pytest
from hypothesis import given

from poor_bench.extraction.normalise import fold_answer, fold_text, words
from tests.extraction.strategies import hostile_text


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Two\n words ", "two words"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("ﬁt", "fit"),
        ("isn\N{RIGHT SINGLE QUOTATION MARK}t", "isn't"),
        ("x\N{EN DASH}y", "x-y"),
        ("a\N{ZERO WIDTH SPACE}b", "ab"),
        ("\N{ZERO WIDTH NO-BREAK SPACE}B", "b"),
    ],
)
def test_case_form_and_space_are_folded(text, folded):
    assert fold_text(text) == folded


def test_punctuation_around_an_answer_does_not_count():
    assert fold_answer("**“Positive.”**") == "positive"
    assert fold_answer("e.g. this") == "e.g. this"


def test_punctuation_that_is_the_answer_counts():
    assert fold_answer(" ?! ") == "?!"
    assert fold_answer("[]") != fold_answer("{}")


def test_words_are_folded_and_keep_apostrophes():
    assert words("Don't STOP, well-known!") == ["don't", "stop", "well-known"]


@given(hostile_text)
def test_folding_twice_is_folding_once(text):
    assert fold_answer(fold_answer(text)) == fold_answer(text)

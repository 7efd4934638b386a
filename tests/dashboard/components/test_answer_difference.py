from __future__ import annotations

from poor_bench.dashboard.components.answer_difference import answer_difference
from tests.dashboard.seen_text import text_of


def test_the_difference_of_numbers_is_a_number() -> None:
    seen = " ".join(text_of(answer_difference("6.00", "40.00")).split())
    assert "Difference: +34.00" in seen
    assert "640.00" not in seen.replace(" ", "")


def test_numbers_of_equal_value_differ_in_their_form_only() -> None:
    assert "the same number" in text_of(answer_difference("6", "6.00"))


def test_texts_without_common_words_have_no_word_diff() -> None:
    seen = text_of(answer_difference("The cat sleeps here.", "Prices rose by a third"))
    assert "Similarity 0%: texts differ too much for a word diff." in seen


def test_alike_texts_are_compared_word_by_word() -> None:
    seen = text_of(answer_difference("the cat sat on a mat", "the cow sat on a mat"))
    assert "Similarity" in seen
    assert "cat cow" in seen

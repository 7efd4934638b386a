from __future__ import annotations

from dash import html
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.texts import answer_difference, mark_all, mark_text
from poor_bench.results.filter_text import Matches, TestFilter
from tests.dashboard.seen_text import of_type, text_of


@given(st.text(alphabet="ab ", max_size=30), st.text(alphabet="ab", min_size=1, max_size=3))
def test_marks_leave_every_character_and_stand_on_the_words(text: str, words: str) -> None:
    parts = mark_text(text, Matches(TestFilter(words=words)).find)
    marked = [part.children for part in parts if isinstance(part, html.Mark)]
    assert "".join(part if isinstance(part, str) else part.children for part in parts) == text
    assert len(marked) == text.count(words)
    assert set(marked) <= {words}


def test_texts_are_marked_at_any_depth_and_marks_are_not_marked_again() -> None:
    content = html.Div([html.P(["red ", html.Mark("red")]), None, html.Pre("a red b")])
    marked = mark_all(content, Matches(TestFilter(words="red")).find)
    assert [mark.children for mark in of_type(marked, "Mark")] == ["red", "red", "red"]
    assert text_of(marked).split() == ["red", "red", "a", "red", "b"]


def test_without_a_search_nothing_changes() -> None:
    content = [html.P("a"), "b"]
    assert text_of(mark_all(content, Matches(TestFilter()).find)) == "a b"


def test_the_difference_of_numbers_is_a_number() -> None:
    seen = " ".join(text_of(answer_difference("6.00", "40.00")).split())
    assert "Difference: +34.00" in seen
    assert "640.00" not in seen.replace(" ", "")


def test_numbers_of_equal_value_differ_in_their_form_only() -> None:
    seen = " ".join(text_of(answer_difference("6", "6.00")).split())
    assert seen == "Difference: 0 ( 6 to 6.00 )"


def test_texts_without_common_words_have_no_word_diff() -> None:
    seen = text_of(answer_difference("The cat sleeps here.", "Prices rose by a third"))
    assert "Similarity 0 %: no diff." in seen


def test_alike_texts_are_compared_word_by_word() -> None:
    seen = text_of(answer_difference("the cat sat on a mat", "the cow sat on a mat"))
    assert "Similarity" in seen
    assert "cat cow" in seen

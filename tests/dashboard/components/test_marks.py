from __future__ import annotations

from dash import html
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.marks import mark_all, mark_text
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

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.text.differences import Side, compare_texts


@given(st.text(max_size=300), st.text(max_size=300))
def test_both_texts_can_be_read_from_the_comparison(first: str, second: str) -> None:
    pieces = compare_texts(first, second)
    assert "".join(p.text for p in pieces if p.side is not Side.SECOND) == first
    assert "".join(p.text for p in pieces if p.side is not Side.FIRST) == second


@given(st.text(max_size=300))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert all(piece.side is Side.BOTH for piece in compare_texts(text, text))


def test_long_texts_are_compared_by_lines_in_little_time() -> None:
    start = time.perf_counter()
    pieces = compare_texts("line a\n" * 4000, "line a\n" * 3999 + "line b\n")
    assert time.perf_counter() - start < 10
    assert [piece.text for piece in pieces[1:]] == ["line a\n", "line b\n"]

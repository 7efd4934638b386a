from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.text.differences import (
    LEAST_ALIKE,
    TextSide,
    compare_texts,
    measure_similarity,
    subtract_numbers,
)


@given(st.text(max_size=300), st.text(max_size=300))
def test_both_texts_can_be_read_from_the_comparison(first: str, second: str) -> None:
    pieces = compare_texts(first, second)
    assert "".join(p.text for p in pieces if p.side is not TextSide.SECOND) == first
    assert "".join(p.text for p in pieces if p.side is not TextSide.FIRST) == second


@given(st.text(max_size=300))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert all(piece.side is TextSide.BOTH for piece in compare_texts(text, text))


def test_a_line_said_thousands_of_times_is_not_compared_each_with_each() -> None:
    pieces = compare_texts("line a\n" * 40_000, "line a\n" * 39_999 + "line b\n")
    assert [piece.text for piece in pieces[1:]] == ["line a\n", "line b\n"]


def test_long_texts_differ_in_the_lines_that_differ() -> None:
    lines = [f"line {number}\n" for number in range(2000)]
    changed = [*lines[:500], "new\n", *lines[500:1500], *lines[1501:]]
    pieces = compare_texts("".join(lines), "".join(changed))
    alone = [(piece.side, piece.text) for piece in pieces if piece.side is not TextSide.BOTH]
    assert alone == [(TextSide.SECOND, "new\n"), (TextSide.FIRST, "line 1500\n")]


NASTY = {
    "few_words": lambda size: "<think>" * (size // 7),
    "invisible": lambda size: "\u202e\u200b\u05d0" * (size // 3),
    "table": lambda size: "|a|b|\n|-|-|\n" * (size // 12),
    "open_objects": lambda size: '{"a":"' * (size // 6),
    "short_lines": lambda size: "".join(f"{n * n % 211:x}\n" for n in range(size // 3)),
}


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("size", [2_990, 400_000])
def test_comparing_is_bounded_work_whatever_models_write(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = 0
    find = difflib.SequenceMatcher.find_longest_match

    def counted(matcher: Any, alo: int, ahi: int, blo: int, bhi: int) -> difflib.Match:
        nonlocal looked_at
        looked_at += sum(len(matcher.b2j.get(piece, ())) for piece in matcher.a[alo:ahi])
        assert looked_at < 2_000_000
        return find(matcher, alo, ahi, blo, bhi)

    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counted)
    first = NASTY[name](size)
    second = "".join(reversed(first))
    pieces = compare_texts(first, second)
    assert "".join(p.text for p in pieces if p.side is not TextSide.SECOND) == first
    assert "".join(p.text for p in pieces if p.side is not TextSide.FIRST) == second


def test_a_number_is_one_word() -> None:
    pieces = compare_texts("It costs 6.00 EUR", "It costs 40.00 EUR")
    assert [piece.text for piece in pieces] == ["It costs ", "6.00", "40.00", " EUR"]


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [("6.00", "40.00", 34), ("1,234", "1,200.", -34), ("6 or 7", "8", None), ("5%", "5", None)],
)
def test_two_answers_that_are_numbers_are_subtracted(
    first: str, second: str, change: int | None
) -> None:
    assert subtract_numbers(first, second) == change


@given(st.text(max_size=100), st.text(max_size=100))
def test_similarity_is_a_share_and_the_same_text_is_alike(first: str, second: str) -> None:
    assert 0 <= measure_similarity(compare_texts(first, second)) <= 1
    assert measure_similarity(compare_texts(first, first)) == 1


def test_sentences_about_other_things_are_not_alike() -> None:
    pieces = compare_texts("The cat sleeps on the warm roof.", "Prices rose by a third, said they")
    assert measure_similarity(pieces) < LEAST_ALIKE

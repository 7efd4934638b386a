from __future__ import annotations

import pytest

from poor_bench.extraction.label import is_denied


@pytest.mark.parametrize(
    "text",
    ["not X", "isn't X", "it is not **X**", "rather than X", "neither B nor X", "it cannot be X",
     "X is not it", "X is clearly wrong", "(X) isn\N{RIGHT SINGLE QUOTATION MARK}t right",
     "I do not think it is X", "X does not fit"],
)  # fmt: skip
def test_a_mention_in_a_negation_is_denied(text):
    start = text.index("X")
    assert is_denied(text, start, start + 1)


@pytest.mark.parametrize(
    "text",
    ["X", "not B but X", "not B, X", "It is not B. X is", "not only X", "X is not only right",
     "not more than X", "I am not sure but X", "no doubt X", "B is not it and X is",
     "X fits, B does not"],
)  # fmt: skip
def test_a_negation_of_something_else_denies_nothing(text):
    start = text.index("X")
    assert not is_denied(text, start, start + 1)

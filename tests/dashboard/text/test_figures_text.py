from __future__ import annotations

import pytest

from poor_bench.dashboard.text.formatting import dollars_text, setting_text, size_text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "n/a"),
        (0.0, "$0"),
        (9.5e-05, "$0.000095"),
        (0.0011, "$0.0011"),
        (0.25, "$0.25"),
        (1234.5, "$1,234.50"),
    ],
)
def test_amounts_show_the_digits_that_matter(dollars: float | None, text: str) -> None:
    assert dollars_text(dollars) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(False, "x=false"), (0.7, "x=0.7"), (["a"], 'x=["a"]'), ("high", "x=high"), (None, "x=null")],
)
def test_parameters_are_told_as_they_are_written(value: object, text: str) -> None:
    assert setting_text("x", value) == text


def test_sizes_have_the_digits_that_matter() -> None:
    assert [size_text(size) for size in (None, 0.75163, 2.0, 116.8)] == [
        "",
        "0.752 B",
        "2 B",
        "117 B",
    ]

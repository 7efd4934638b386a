from __future__ import annotations

import pytest

from poor_bench.dashboard.text.figures_text import dollars_text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "-"),
        (0.0, "$0"),
        (9.5e-05, "$0.000095"),
        (0.0011, "$0.0011"),
        (0.25, "$0.25"),
        (1234.5, "$1,234.50"),
    ],
)
def test_amounts_show_the_digits_that_matter(dollars: float | None, text: str) -> None:
    assert dollars_text(dollars) == text

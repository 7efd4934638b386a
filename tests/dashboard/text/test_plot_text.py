from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.text.plot_text import plot_text


@given(st.text())
def test_no_markup_reaches_a_chart(text: str) -> None:
    shown = plot_text(text)
    assert "<" not in shown
    assert ">" not in shown
    assert "\n" not in shown


def test_long_names_are_cut() -> None:
    assert plot_text("x" * 100, 10) == "xxxxxxxxx…"

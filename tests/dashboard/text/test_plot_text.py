from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.text.formatting import plot_id, plot_text


@given(st.text())
def test_no_markup_reaches_a_chart(text: str) -> None:
    shown = plot_text(text)
    assert "<" not in shown
    assert ">" not in shown
    assert "\n" not in shown


@given(st.text(), st.integers(3, 60))
def test_ids_are_no_markup_either(text: str, limit: int) -> None:
    assert "<" not in plot_id(text, limit)


def test_long_names_are_cut() -> None:
    assert plot_text("x" * 100, 10) == "xxxxxxxxx…"

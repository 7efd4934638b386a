from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.url_values import TableView, pack_values, unpack_values

NAMES = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(NAMES.filter(lambda name: not name.startswith("~")), max_size=120))
def test_values_of_any_number_come_back(values: list[str]) -> None:
    assert unpack_values(pack_values(values)) == tuple(values)


@given(st.lists(NAMES, min_size=1, max_size=8), NAMES)
def test_columns_of_any_name_come_back(columns: list[str], sort: str) -> None:
    view = TableView("classes", f"-{sort}", tuple(columns))
    assert TableView.read(view.text) == view


def test_few_values_stay_readable() -> None:
    assert pack_values(["sum_001", "sum_002"]) == ["sum_001", "sum_002"]


@pytest.mark.parametrize("text", ["~", "~x", "~AAAA", "~" + "A" * 999, "~\u00e9"])
def test_a_damaged_text_stands_for_no_value(text: str) -> None:
    assert unpack_values([text, "kept"]) == ("kept",)


def test_a_bomb_fills_no_memory() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(b"a" * 50_000_000)).decode()
    [value] = unpack_values([f"~{bomb}"])
    assert len(value) == 2_000_000

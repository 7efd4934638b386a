from __future__ import annotations

import pytest
from hypothesis import given

from poor_bench.extraction.field_comparison import build_item_key
from tests.extraction.strategies import json_values


@pytest.mark.parametrize(
    ("one", "other"),
    [(18, "18.0"), ("1/2", 0.5), ("Red.", "red"), (True, "true"), (None, "null"), ([1], ["1"]),
     ({"A": 1}, {"a": "1"}), ("  two\nwords", "Two words")],
)  # fmt: skip
def test_same_meaning_has_the_same_key(one, other):
    assert build_item_key(one) == build_item_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(18, 19), (True, 1), (None, 0), ("red", "blue"), ([1], [2]), ([1, 2], [2, 1])],
)
def test_other_meaning_has_another_key(one, other):
    assert build_item_key(one) != build_item_key(other)


@given(json_values)
def test_every_json_value_has_a_key_that_can_be_counted(value):
    assert hash(build_item_key(value)) == hash(build_item_key(value))

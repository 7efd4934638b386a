from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.text.differences import compare_json

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
objects = st.dictionaries(
    st.text(min_size=1, max_size=4),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6),
    min_size=1,
    max_size=4,
)


@given(objects)
def test_a_value_differs_in_nothing_from_itself(value: dict[str, object]) -> None:
    text = json.dumps(value)
    found = compare_json(text, f"```json\n{text}\n```")
    assert found is not None
    assert found.differences == ()


def test_missing_fields_and_other_values_are_told_apart() -> None:
    found = compare_json('{"a": 1, "b": {"c": "x"}}', '{"a": true, "d": []}')
    assert found is not None
    assert {(field.path, field.first, field.second) for field in found.differences} == {
        ("a", "1", "true"),
        ("b.c", '"x"', None),
        ("d", None, "[]"),
    }


def test_prose_has_no_fields() -> None:
    assert compare_json("four", '{"a": 1}') is None


def test_long_answers_are_not_searched_and_long_fields_are_cut() -> None:
    long = json.dumps({"a": "x" * 100_000})
    found = compare_json(long, '{"a": 1}')
    assert found is not None
    assert all(len(field.first or "") < 2_100 for field in found.differences)
    assert compare_json("[" * 150_000 + "]" * 150_000, '{"a": 1}') is None
    assert compare_json(json.dumps({"a": "x" * 300_000}), '{"a": 1}') is None


def test_a_name_with_a_dot_is_not_taken_for_two_steps() -> None:
    found = compare_json('{"a.b": 1, "a": {"b": 2}}', '{"c": 3}')
    assert found is not None
    assert {field.path for field in found.differences} == {'["a.b"]', "a.b", "c"}

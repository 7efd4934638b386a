from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.playbook_file import (
    TypeStep,
    fill_placeholders,
    find_placeholders,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_without_parameters_nothing_changes(value: Any) -> None:
    assert fill_placeholders(value, {}) == value


@given(json_values)
def test_afterwards_no_known_placeholder_is_left(value: Any) -> None:
    params = dict.fromkeys(find_placeholders(value), "x")
    assert find_placeholders(fill_placeholders(value, params)) == []


def test_what_a_value_says_is_not_filled_again() -> None:
    assert fill_placeholders("{a}", {"a": "{b}", "b": "x"}) == "{b}"


def test_braces_that_are_no_placeholders_stay() -> None:
    assert fill_placeholders(r"\d{2} {} {A} {1}", {"a": "x"}) == r"\d{2} {} {A} {1}"


def test_a_step_keeps_what_was_not_given() -> None:
    step = TypeStep.model_validate({"label": "{a}", "value": "{b}"})
    assert fill_placeholders(step, {"a": "Name"}).model_dump(exclude_unset=True) == {
        "label": "Name",
        "value": "{b}",
    }

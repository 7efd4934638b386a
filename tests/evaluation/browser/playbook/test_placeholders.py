from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.playbook.models import TypeStep, filled, filled_model, names_in

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_without_parameters_nothing_changes(value: Any) -> None:
    assert filled(value, {}) == value


@given(json_values)
def test_afterwards_no_known_placeholder_is_left(value: Any) -> None:
    params = dict.fromkeys(names_in(value), "x")
    assert list(names_in(filled(value, params))) == []


def test_what_a_value_says_is_not_filled_again() -> None:
    assert filled("{a}", {"a": "{b}", "b": "x"}) == "{b}"


def test_braces_that_are_no_placeholders_stay() -> None:
    assert filled(r"\d{2} {} {A} {1}", {"a": "x"}) == r"\d{2} {} {A} {1}"


def test_a_step_keeps_what_was_not_given() -> None:
    step = TypeStep.model_validate({"label": "{a}", "value": "{b}"})
    assert filled_model(step, {"a": "Name"}).model_dump(exclude_unset=True) == {
        "label": "Name",
        "value": "{b}",
    }

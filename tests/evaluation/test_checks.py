from __future__ import annotations

from typing import Any

import pytest

from poor_bench.evaluation.checks import list_failed_checks
from tests.evaluation.builders import make_case, make_trial, not_run

MEETING = {
    "success": True,
    "summary": "Bought the Red  teapot",
    "error": "none",
    "extracted_text": "Total:\n 12.50",
    "data": {"order": {"id": 7, "items": [{"name": "Teapot"}]}, "paid": True, "a.b": "x"},
    "duration_ms": 900.0,
    "actions": 5,
    "input_tokens": 1000,
    "output_tokens": 100,
    "estimated_cost_usd": 0.01,
    "mode": "handoff",
    "handed_off": True,
}


@pytest.mark.parametrize(
    ("expect", "broken"),
    [
        ({}, {"success": False, "error": "lost"}),
        ({"summary_contains": "red TEAPOT"}, {"summary": "Bought a kettle"}),
        ({"error_contains": "NONE"}, {"error": ""}),
        ({"extracted_text_contains": "total: 12.5"}, {"extracted_text": "Total: 13"}),
        ({"required_data_keys": ["order.id"]}, {"data": {"order": {}}}),
        ({"required_data_keys": ["order.items.0.name"]}, {"data": {"order": {"items": []}}}),
        ({"required_data_keys": ["a.b"]}, {"data": {"a": {"c": 1}}}),
        ({"summary_contains": ["red", "teapot"]}, {"summary": "Bought a red kettle"}),
        ({"max_estimated_cost_usd": 0.01}, {"estimated_cost_usd": None}),
        ({"data_values_contain": {"order.items.0.name": "tea"}}, {"data": {}}),
        ({"data_values_contain": {"paid": "true"}}, {"data": {"paid": False}}),
        ({"max_duration_ms": 900}, {"duration_ms": 900.5}),
        ({"max_actions": 5}, {"actions": 6}),
        ({"min_actions": 5}, {"actions": 4}),
        ({"max_input_tokens": 1000}, {"input_tokens": 1001}),
        ({"max_output_tokens": 100}, {"output_tokens": 101}),
        ({"max_estimated_cost_usd": 0.01}, {"estimated_cost_usd": 0.011}),
        ({"handoff": "require"}, {"handed_off": False}),
    ],
    ids=str,
)
def test_expectation_is_met_at_its_limit_and_told_when_broken(
    expect: dict[str, Any], broken: dict[str, Any]
) -> None:
    case = make_case(expect=expect)
    assert list_failed_checks(case, make_trial(**MEETING)) == ()
    told = list_failed_checks(case, make_trial(**{**MEETING, **broken}))
    assert len(told) == 1
    assert told[0].startswith(f"{next(iter(expect), 'must_succeed')}: ")


def test_forbidden_handoff_is_told() -> None:
    case = make_case(expect={"handoff": "forbid"})
    assert list_failed_checks(case, make_trial(handed_off=False)) == ()
    assert "forbidden" in list_failed_checks(case, make_trial(handed_off=True))[0]


def test_success_is_not_looked_at_where_it_is_not_wanted() -> None:
    case = make_case(expect={"must_succeed": False, "error_contains": "sold out"})
    assert list_failed_checks(case, make_trial(success=False, error="It is sold out.")) == ()


def test_every_broken_expectation_is_told() -> None:
    case = make_case(expect={"summary_contains": "a", "max_actions": 1})
    assert len(list_failed_checks(case, make_trial(success=False, actions=2))) == 3


def test_data_of_a_success_must_keep_the_schema_of_the_case() -> None:
    schema = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}
    case = make_case(output_schema=schema, expect={"must_succeed": False})
    assert list_failed_checks(case, make_trial(data={"price": 12.5})) == ()
    told = list_failed_checks(case, make_trial(data={"price": "12.5"}))
    assert told == ("output_schema: $.price: '12.5' is not of type 'number'",)
    assert list_failed_checks(case, make_trial(success=False, data={})) == ()


def test_trial_that_could_not_be_run_has_nothing_to_be_checked() -> None:
    assert list_failed_checks(make_case(expect={"min_actions": 3}), not_run()) == ()


def test_long_texts_are_shortened_in_checks() -> None:
    case = make_case(expect={"summary_contains": "needle"})
    (told,) = list_failed_checks(case, make_trial(summary="hay " * 10_000))
    assert len(told) < 300


@pytest.mark.parametrize(
    "expect", [{"required_data_keys": ["order.id"]}, {"data_values_contain": {"order": "null"}}]
)
def test_a_value_that_could_not_be_read_is_missing_with_the_reason(expect: dict[str, Any]) -> None:
    trial = make_trial(data={"order": None}, read_errors={"order": "ReferenceError: shop"})
    (told,) = list_failed_checks(make_case(expect=expect), trial)
    assert "could not be read at the end: ReferenceError: shop" in told


def test_what_is_counted_is_told_in_singular_and_plural() -> None:
    case = make_case(expect={"max_actions": 0, "max_duration_ms": 0})
    told = list_failed_checks(case, make_trial(actions=1, duration_ms=1))
    assert "max_actions: 1 action, at most 0 expected" in told
    assert "max_duration_ms: 1 ms, at most 0 expected" in told
    assert "max_actions: 2 actions, at" in list_failed_checks(case, make_trial(actions=2))[-1]

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result, record_to_result, result_to_record

RECORD = {"test_id": "t", "score": 1, "details": "right", "response": "4"}


def test_record_and_result_are_the_same_thing() -> None:
    result = Result(
        llm_id="a:b", test_id="t", score=0.5, marks=("truncated",), trial=3, think="low", load_ms=1
    )
    assert record_to_result("a:b", result_to_record(result)) == result


def test_failure_survives_being_a_record() -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="too slow", attempts=2)
    result = Result(llm_id="a:b", test_id="t", failure=failure)
    assert record_to_result("a:b", result_to_record(result)) == result


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prompt_tokens", "many"),
        ("timestamp", 5),
        ("marks", 3),
        ("details", None),
        ("think", 2.5),
        ("load_ms", [1]),
    ],
)
def test_value_of_a_wrong_type_is_left_out(field: str, value: Any) -> None:
    assert record_to_result("a:b", RECORD | {field: value, "trial": 2}).trial == 2
    default = getattr(Result(llm_id="a:b", test_id="t"), field)
    assert getattr(record_to_result("a:b", RECORD | {field: value}), field) == default


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("test_id", 5),
        ("trial", "x"),
        ("trial", 0),
        ("trial", 1.5),
        ("response", {"a": 1}),
        ("score", "1"),
        ("score", True),
        ("score", 1.5),
        ("score", float("nan")),
        ("score", None),
    ],
)
def test_record_without_what_a_result_needs_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        record_to_result("a:b", RECORD | {field: value})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*RECORD, "trial", "failure", "marks"]), _JSON))
def test_any_record_gives_a_result_or_a_reason(changes: dict[str, Any]) -> None:
    try:
        result = record_to_result("a:b", RECORD | changes)
    except (ValueError, TypeError, KeyError):
        return
    assert (result.score is None) == (result.failure is not None)
    assert result.trial >= 1

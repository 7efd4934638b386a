from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.problem import Severity
from tests.lint.workspaces import FakeFacts, codes, lint, make_test


def findings_for(inputs: list[Any], reference: str | None, text: str = "of a list") -> list[Any]:
    cases = [{"input": value, "expected_output": 0} for value in inputs]
    test = make_test(text=text, reference_response=reference, parameters={"test_cases": cases})
    found = lint(test, facts=FakeFacts(right=reference or ""))
    return [
        finding for finding in found if finding.problem.code not in {"no-reference", "blank-passes"}
    ]


@pytest.mark.parametrize(
    ("reference", "inputs"),
    [
        ("def f(x): return x", [5, "a", {"x": 1}, [7]]),
        ("def f(a, b): return a", [[1, 2], {"a": 1, "b": 2}]),
        ("def f(a, b=1): return a", [1, [1, 2], {"a": 1}]),
        ("def f(*numbers): return 0", [[], [1, 2, 3], 1]),
        ("def f(a, *, b): return 0", [{"a": 1, "b": 2}]),
        ("def f(**options): return 0", [{"a": 1}]),
        ("def f(): return 0", [[]]),
    ],
)
def test_inputs_that_fit_the_reference_are_fine(reference: str, inputs: list[Any]) -> None:
    assert findings_for(inputs, reference) == []


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("def f(a, b): return a", 1),
        ("def f(a, b): return a", [1, 2, 3]),
        ("def f(a): return a", {"b": 1}),
        ("def f(a, *, b): return a", {"a": 1}),
        ("def f(a, *, b): return a", 1),
    ],
)
def test_inputs_that_cannot_fit_are_errors(reference: str, value: Any) -> None:
    (finding,) = findings_for([value], reference)
    assert finding.problem.code == "input-does-not-fit"
    assert finding.problem.severity is Severity.ERROR
    assert finding.fixes == ()


def test_lists_for_a_function_of_one_list_are_wrapped() -> None:
    (finding,) = findings_for([[1, 2], []], "def f(numbers): return sum(numbers)")
    assert finding.problem.severity is Severity.WARNING
    assert [case["input"] for case in finding.fixes[0].value] == [[[1, 2]], [[]]]


def test_a_list_that_might_be_wrapped_already_is_left_to_its_author() -> None:
    (finding,) = findings_for([[1, 2], [[3]]], "def f(numbers): return sum(numbers)")
    assert finding.fixes == ()


def test_the_function_is_found_in_a_fence_and_by_its_name() -> None:
    reference = "Here:\n```python\ndef helper(a, b):\n    return a\n\ndef f(x):\n    return x\n```"
    cases = [{"input": 1, "expected_output": 1}]
    parameters = {"test_cases": cases, "function_name": "f"}
    test = make_test(text="f", reference_response=reference, parameters=parameters)
    assert lint(test, facts=FakeFacts(right=reference)) == []


def test_without_a_reference_lists_of_different_lengths_are_suspicious() -> None:
    (finding,) = findings_for([[1, 2, 3], []], None)
    assert finding.problem.code == "list-input-spread"
    assert [case["input"] for case in finding.fixes[0].value] == [[[1, 2, 3]], [[]]]


def test_the_suspicion_is_mended_only_where_the_text_speaks_of_a_list() -> None:
    (finding,) = findings_for([[1, 2, 3], []], None, text="adds its arguments")
    assert finding.fixes == ()


@pytest.mark.parametrize("inputs", [[[1, 2], [3, 4]], [1, [2, 3]], [], [5, 6]])
def test_without_a_reference_other_inputs_are_fine(inputs: list[Any]) -> None:
    assert findings_for(inputs, None) == []


@pytest.mark.parametrize("cases", [None, 5, [5], [{"output": 1}]])
def test_odd_test_cases_do_not_crash(cases: Any) -> None:
    assert codes(lint(make_test(parameters={"test_cases": cases}))) == []


@pytest.mark.parametrize("reference", ["def f(:", "\x00", "x = 1", ""])
def test_references_without_a_function_tell_nothing(reference: str) -> None:
    assert findings_for([[1, 2]], reference) == []

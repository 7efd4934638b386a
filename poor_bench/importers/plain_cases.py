"""From assertions to inputs and expected outputs, so that a sandbox need not know the latter."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

_UNKNOWN = object()


def cases_of(assertions: Sequence[str], function: str) -> list[dict[str, Any]] | None:
    """Return the test cases that assertions of the form `assert f(1, 2) == 3` stand for.

    Returns:
        None if one of them is of another form, or holds values that JSON cannot say exactly.

    Example:
        >>> cases_of(["assert add(1, 2) == 3"], "add")
        [{'input': [1, 2], 'expected_output': 3}]
    """
    cases = [_case_of(assertion, function) for assertion in assertions]
    return [case for case in cases if case is not None] if all(cases) else None


def _case_of(assertion: str, function: str) -> dict[str, Any] | None:
    match ast.parse(assertion).body:
        case [
            ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[expected],
                )
            )
        ] if name == function:
            values = [_plain_value(node) for node in (*arguments, expected)]
            if any(value is _UNKNOWN for value in values):
                return None
            return {"input": values[:-1], "expected_output": values[-1]}
    return None


def _plain_value(node: ast.expr) -> Any:
    """Return the value of a literal that JSON says exactly."""
    try:
        value = ast.literal_eval(node)
        is_exact = json.loads(json.dumps(value, allow_nan=False)) == value
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return _UNKNOWN
    return value if is_exact else _UNKNOWN

"""From assertions to inputs and expected outputs, so that a sandbox need not know the latter."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any


def cases_of(assertions: Sequence[str], function: str) -> list[dict[str, Any]] | None:
    """Return the test cases that assertions of the form `assert f(1, 2) == 3` stand for.

    Returns:
        None if one of them is of another form. Values that JSON cannot say exactly are written as
        Python literals.

    Example:
        >>> cases_of(["assert add(1, 2) == 3"], "add")
        [{'input': [1, 2], 'expected_output': 3}]
        >>> cases_of(["assert ends((1, 2)) == {1, 2}"], "ends")
        [{'input_python': '[(1, 2)]', 'expected_python': '{1, 2}'}]
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
        ] if name == function and all(map(_is_literal, (*arguments, expected))):
            given = ast.List(elts=arguments, ctx=ast.Load())
            return {
                **_spelled(given, "input", "input_python"),
                **_spelled(expected, "expected_output", "expected_python"),
            }
    return None


def _spelled(literal: ast.expr, json_key: str, python_key: str) -> dict[str, Any]:
    """Return a literal under `json_key` where JSON can say it exactly, else as Python."""
    value = ast.literal_eval(literal)
    try:
        is_exact = json.loads(json.dumps(value, allow_nan=False)) == value
    except (ValueError, TypeError):
        is_exact = False
    return {json_key: value} if is_exact else {python_key: ast.unparse(literal)}


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return False
    return True

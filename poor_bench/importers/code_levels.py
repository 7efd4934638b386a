"""A first guess at how hard a programming task is, from the length of its solution."""

from __future__ import annotations

import ast

_LEVEL_BY_STATEMENTS = ((1, 1), (3, 2), (5, 3), (8, 4))
"""Most statements of a solution of each level, 5 for more; near the fifths of HumanEval and MBPP
taken together.
"""


def level_of_code(source: str) -> int:
    """Return a level from 1 to 5 by the number of statements inside the functions of `source`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return 3
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    n_statements = sum(
        isinstance(node, ast.stmt) and not _is_docstring(node)
        for function in functions
        for inner in function.body
        for node in ast.walk(inner)
    )
    return next((level for most, level in _LEVEL_BY_STATEMENTS if n_statements <= most), 5)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

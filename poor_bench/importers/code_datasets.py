"""Import programming tasks: HumanEval and MBPP.

A row of HumanEval has `task_id`, `prompt` (imports, helpers, signature, docstring), `entry_point`,
`canonical_solution` (the body) and `test` with `check(candidate)`. A row of MBPP has `task_id`,
`prompt` (or `text`), `code` (a solution), `test_list` (assertions) and `test_imports` (or
`test_setup_code`). The length of the solution gives a first guess at the level.

Source:
    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv:2107.03374;
    Austin et al. 2021, "Program Synthesis with Large Language Models", arXiv:2108.07732.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from poor_bench.importers.rows import Entry, Importer, Row, RowError, read_text

_LEVEL_BY_STATEMENTS = ((1, 1), (3, 2), (5, 3), (8, 4))
"""Most statements of a solution of each level, 5 for more; near the fifths of HumanEval and MBPP
taken together.
"""


def estimate_level(source: str) -> int:
    """Estimate a level from 1 to 5 by the number of statements inside the functions of `source`."""
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


_HUMANEVAL_TEMPLATE = """\
Complete this Python function. Reply with the whole function in one ```python block.

```python
{task}
```
"""


def _humaneval_to_test(row: Row, number: int) -> Entry:
    prompt = read_text(row, "prompt")
    function = read_text(row, "entry_point")
    solution = prompt + read_text(row, "canonical_solution")
    parameters = {"function_name": function, "check_source": read_text(row, "test")}
    setup = _cut_before_function(prompt, function).strip()
    if setup:
        parameters["setup_code"] = setup
    return {
        "test_id": str(row.get("task_id", number)).rpartition("/")[2],
        "level": estimate_level(solution),
        "text": prompt.rstrip(),
        "evaluation_module": {"parameters": parameters},
        "reference_response": f"```python\n{solution.rstrip()}\n```",
    }


def _cut_before_function(prompt: str, function: str) -> str:
    """Cut out the imports and helpers that a prompt gives before the function to complete."""
    start = re.search(rf"^def {re.escape(function)}\b", prompt, re.MULTILINE)
    if start is None:
        raise RowError(f"the prompt does not define `{function}`")
    return prompt[: start.start()]


HUMANEVAL = Importer(
    name="humaneval",
    description="Python functions to complete: prompt, entry_point, canonical_solution, test",
    class_entry={
        "description": "Python functions to complete (HumanEval)",
        "work_prompt_template": {"default": _HUMANEVAL_TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 10},
        },
    },
    recognises=lambda row: {"prompt", "entry_point", "canonical_solution", "test"} <= row.keys(),
    to_test=_humaneval_to_test,
)


_MBPP_TEMPLATE = """\
{task}

Reply with the whole function in one ```python block.
"""


def _mbpp_to_test(row: Row, number: int) -> Entry:
    code = read_text(row, "code")
    assertions = _list_assertions(row)
    function = _find_tested_function(code, assertions)
    task = read_text(row, "prompt" if "prompt" in row else "text").strip()
    listed = "\n".join(assertions)
    return {
        "test_id": str(row.get("task_id", number)),
        "level": estimate_level(code),
        "text": f"{task}\nName the function `{function}`. It must pass:\n```python\n{listed}\n```",
        "evaluation_module": {
            "parameters": _build_parameters(function, assertions, _write_setup(row))
        },
        "reference_response": f"```python\n{code.replace(chr(13), '').rstrip()}\n```",
    }


def _build_parameters(function: str, assertions: list[str], setup: str) -> dict[str, Any]:
    """Write plain inputs and outputs where the assertions are that simple, else a check."""
    cases = read_cases(assertions, function)
    if cases is not None and not setup:
        return {"function_name": function, "test_cases": cases}
    body = textwrap.indent("\n".join(assertions), "    ")
    parameters = {"function_name": function, "check_source": f"def check(candidate):\n{body}\n"}
    return {**parameters, "setup_code": setup} if setup else parameters


def _list_assertions(row: Row) -> list[str]:
    assertions = row.get("test_list")
    if not isinstance(assertions, list) or not assertions:
        raise RowError("the column `test_list` has no assertions")
    return [str(assertion).replace("\r", "").strip() for assertion in assertions]


def _write_setup(row: Row) -> str:
    imports = row.get("test_imports")
    if isinstance(imports, list):
        return "\n".join(str(line) for line in imports)
    return str(row.get("test_setup_code") or "")


def _find_tested_function(code: str, assertions: list[str]) -> str:
    """Find the function of `code` that the first assertion calls."""
    try:
        body = ast.parse(code).body
        calls = [node for node in ast.walk(ast.parse(assertions[0])) if isinstance(node, ast.Call)]
    except SyntaxError as error:
        raise RowError(f"the code or an assertion is not Python: {error.msg}") from error
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    called = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    tested = next((name for name in called if name in defined), None)
    if tested is None:
        raise RowError("the assertions call no function that the code defines")
    return tested


MBPP = Importer(
    name="mbpp",
    description="Basic Python problems: prompt, code, test_list of assertions",
    class_entry={
        "description": "Mostly basic Python problems (MBPP)",
        "work_prompt_template": {"default": _MBPP_TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 10},
        },
    },
    recognises=lambda row: {"code", "test_list"} <= row.keys(),
    to_test=_mbpp_to_test,
)


def read_cases(assertions: Sequence[str], function: str) -> list[dict[str, Any]] | None:
    """Read the test cases that assertions of the form `assert f(1, 2) == 3` stand for.

    Returns:
        None if one of them is of another form. Values that JSON cannot say exactly are written as
        Python literals.

    Example:
        >>> read_cases(["assert add(1, 2) == 3"], "add")
        [{'input': [1, 2], 'expected_output': 3}]
        >>> read_cases(["assert ends((1, 2)) == {1, 2}"], "ends")
        [{'input_python': '[(1, 2)]', 'expected_python': '{1, 2}'}]
    """
    cases = [_read_case(assertion, function) for assertion in assertions]
    return [case for case in cases if case is not None] if all(cases) else None


def _read_case(assertion: str, function: str) -> dict[str, Any] | None:
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
                **_spell(given, "input", "input_python"),
                **_spell(expected, "expected_output", "expected_python"),
            }
    return None


def _spell(literal: ast.expr, json_key: str, python_key: str) -> dict[str, Any]:
    """Spell a literal under `json_key` where JSON can say it exactly, else as Python."""
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

"""MBPP: mostly basic Python problems, each with a few assertions.

A row has `task_id`, `prompt` (or `text`), `code` (a solution), `test_list` (assertions) and
`test_imports` (or `test_setup_code`).

Source:
    Austin et al. 2021, "Program Synthesis with Large Language Models", arXiv:2108.07732.
"""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from poor_bench.importers.code_levels import level_of_code
from poor_bench.importers.imported import Entry, Importer, Row, RowError, text_in
from poor_bench.importers.plain_cases import cases_of

_TEMPLATE = """\
{task}

Reply with the whole function in one ```python block.
"""


def _to_test(row: Row, number: int) -> Entry:
    code = text_in(row, "code")
    assertions = _assertions(row)
    function = _tested_function(code, assertions)
    task = text_in(row, "prompt" if "prompt" in row else "text").strip()
    listed = "\n".join(assertions)
    return {
        "test_id": str(row.get("task_id", number)),
        "level": level_of_code(code),
        "text": f"{task}\nName the function `{function}`. It must pass:\n```python\n{listed}\n```",
        "evaluation_module": {"parameters": _parameters(function, assertions, _setup(row))},
        "reference_response": f"```python\n{code.replace(chr(13), '').rstrip()}\n```",
    }


def _parameters(function: str, assertions: list[str], setup: str) -> dict[str, Any]:
    """Return plain inputs and outputs where the assertions are that simple, else a check."""
    cases = cases_of(assertions, function)
    if cases is not None and not setup:
        return {"function_name": function, "test_cases": cases}
    body = textwrap.indent("\n".join(assertions), "    ")
    parameters = {"function_name": function, "check_source": f"def check(candidate):\n{body}\n"}
    return {**parameters, "setup_code": setup} if setup else parameters


def _assertions(row: Row) -> list[str]:
    assertions = row.get("test_list")
    if not isinstance(assertions, list) or not assertions:
        raise RowError("the column `test_list` has no assertions")
    return [str(assertion).replace("\r", "").strip() for assertion in assertions]


def _setup(row: Row) -> str:
    imports = row.get("test_imports")
    if isinstance(imports, list):
        return "\n".join(str(line) for line in imports)
    return str(row.get("test_setup_code") or "")


def _tested_function(code: str, assertions: list[str]) -> str:
    """Return the function of `code` that the first assertion calls."""
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
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 10},
        },
    },
    recognises=lambda row: {"code", "test_list"} <= row.keys(),
    to_test=_to_test,
)

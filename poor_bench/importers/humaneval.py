"""HumanEval: Python functions to complete, each with a test `check(candidate)`.

A row has `task_id`, `prompt` (imports, helpers, signature, docstring), `entry_point`,
`canonical_solution` (the body) and `test`.

Source:
    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.
"""

from __future__ import annotations

import re

from poor_bench.importers.code_levels import level_of_code
from poor_bench.importers.imported import Entry, Importer, Row, RowError, text_in

_TEMPLATE = """\
Complete this Python function. Reply with the whole function in one ```python block.

```python
{task}
```
"""


def _to_test(row: Row, number: int) -> Entry:
    prompt = text_in(row, "prompt")
    function = text_in(row, "entry_point")
    solution = prompt + text_in(row, "canonical_solution")
    parameters = {"function_name": function, "check_source": text_in(row, "test")}
    setup = _before_function(prompt, function).strip()
    if setup:
        parameters["setup_code"] = setup
    return {
        "test_id": str(row.get("task_id", number)).rpartition("/")[2],
        "level": level_of_code(solution),
        "text": prompt.rstrip(),
        "evaluation_module": {"parameters": parameters},
        "reference_response": f"```python\n{solution.rstrip()}\n```",
    }


def _before_function(prompt: str, function: str) -> str:
    """Return the imports and helpers that a prompt gives before the function to complete."""
    start = re.search(rf"^def {re.escape(function)}\b", prompt, re.MULTILINE)
    if start is None:
        raise RowError(f"the prompt does not define `{function}`")
    return prompt[: start.start()]


HUMANEVAL = Importer(
    name="humaneval",
    description="Python functions to complete: prompt, entry_point, canonical_solution, test",
    class_entry={
        "description": "Python functions to complete (HumanEval)",
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 10},
        },
    },
    recognises=lambda row: {"prompt", "entry_point", "canonical_solution", "test"} <= row.keys(),
    to_test=_to_test,
)

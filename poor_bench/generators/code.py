"""Code: write a function that changes a list of numbers in one to five steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from poor_bench.generators.generator import Entry, Generator
from poor_bench.generators.list_steps import ListStep, Numbers, apply_steps, draw_steps

_TEMPLATE = """\
{task}

Reply with the code only.
"""
_N_CASES = 6


class _Ending(NamedTuple):
    words: str
    apply: Callable[[Numbers], Any]
    source: str


_ENDINGS = (
    _Ending("return the list", list, "numbers"),
    _Ending("return the sum of the numbers", sum, "sum(numbers)"),
    _Ending("return how many numbers there are", len, "len(numbers)"),
    _Ending(
        "return the largest number, or None if there is none",
        lambda numbers: max(numbers, default=None),
        "max(numbers, default=None)",
    ),
    _Ending(
        "return the difference of the largest and the smallest number, or 0 if there is none",
        lambda numbers: max(numbers, default=0) - min(numbers, default=0),
        "max(numbers, default=0) - min(numbers, default=0)",
    ),
)


def _make(randomness: random.Random, level: int) -> Entry:
    steps = draw_steps(randomness, n_steps=level)
    ending = randomness.choice(_ENDINGS)
    inputs = [[], *(_numbers(randomness, length) for length in range(1, _N_CASES))]
    cases = [
        {"input": [numbers], "expected_output": ending.apply(apply_steps(steps, numbers))}
        for numbers in inputs
    ]
    return {
        "text": _task(steps, ending),
        "evaluation_module": {"parameters": {"function_name": "solve", "test_cases": cases}},
        "reference_response": _solution(steps, ending),
    }


def _numbers(randomness: random.Random, length: int) -> Numbers:
    return [randomness.randint(-5, 25) for _ in range(length + 2)]


def _task(steps: list[ListStep], ending: _Ending) -> str:
    orders = [*(step.words for step in steps), ending.words]
    listed = [f"{number}. {words}" for number, words in enumerate(orders, start=1)]
    head = "Write a Python function `solve(numbers)`. It takes a list of whole numbers and shall:"
    return "\n".join([head, *listed])


def _solution(steps: list[ListStep], ending: _Ending) -> str:
    lines = [*(step.source for step in steps), f"return {ending.source}"]
    body = "\n".join(f"    {line}" for line in lines)
    return f"```python\ndef solve(numbers):\n{body}\n```"


CODE = Generator(
    name="code",
    description="Python functions that change a list of numbers step by step",
    class_entry={
        "description": "Write a Python function from a list of steps",
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 5},
        },
    },
    make=_make,
)

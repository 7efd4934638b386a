"""Lists: follow one to five steps that change a list of numbers."""

from __future__ import annotations

import json
import random

from poor_bench.generators.generator import Entry, Generator
from poor_bench.generators.list_steps import apply_steps, draw_steps

_TEMPLATE = """\
{text}

Reply with the resulting list as JSON only, such as [3, 1, 2].
"""


def _make(randomness: random.Random, level: int) -> Entry:
    while True:
        numbers = [randomness.randint(1, 20) for _ in range(4 + level)]
        steps = draw_steps(randomness, n_steps=level)
        result = apply_steps(steps, numbers)
        if result and result != numbers:
            break
    orders = [f"{number}. {step.words}" for number, step in enumerate(steps, start=1)]
    return {
        "text": "\n".join([f"Start with the list {numbers}. Then, in this order:", *orders]),
        "evaluation_module": {"parameters": {"expected": result}},
        "reference_response": json.dumps(result),
    }


LISTS = Generator(
    name="lists",
    description="Steps that sort, select and change the numbers of a list",
    class_entry={
        "description": "Follow steps that change a list of numbers",
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "list_match",
            "parameters": {"compare": "ordered", "format": "json"},
        },
    },
    make=_make,
)

"""Generate tasks with lists of whole numbers: steps in words, as a function, and as source."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from poor_bench.generators.generator import Entry, Generator
from poor_bench.messages import write_count

Numbers = list[int]


@dataclass(frozen=True, slots=True)
class ListStep:
    """One step."""

    kind: str
    """Two steps of one kind in a row would be dull."""
    words: str
    """An order, such as "remove the odd numbers"."""
    apply: Callable[[Numbers], Numbers]
    source: str
    """Python that changes `numbers` accordingly."""


def draw_steps(randomness: random.Random, n_steps: int) -> list[ListStep]:
    """Draw steps of which no two in a row are of one kind."""
    steps: list[ListStep] = []
    while len(steps) < n_steps:
        step = randomness.choice(_STEPS)(randomness)
        if not steps or steps[-1].kind != step.kind:
            steps.append(step)
    return steps


def apply_steps(steps: list[ListStep], numbers: Numbers) -> Numbers:
    """Apply the steps to a list, one after the other."""
    for step in steps:
        numbers = step.apply(list(numbers))
    return numbers


def _add(randomness: random.Random) -> ListStep:
    summand = randomness.randint(2, 9)
    return ListStep(
        "change",
        f"add {summand} to every number",
        lambda numbers: [number + summand for number in numbers],
        f"numbers = [number + {summand} for number in numbers]",
    )


def _multiply(randomness: random.Random) -> ListStep:
    factor = randomness.randint(2, 5)
    return ListStep(
        "change",
        f"multiply every number by {factor}",
        lambda numbers: [number * factor for number in numbers],
        f"numbers = [number * {factor} for number in numbers]",
    )


def _keep_parity(randomness: random.Random) -> ListStep:
    name, rest = randomness.choice([("even", 0), ("odd", 1)])
    return ListStep(
        "select",
        f"keep only the {name} numbers",
        lambda numbers: [number for number in numbers if number % 2 == rest],
        f"numbers = [number for number in numbers if number % 2 == {rest}]",
    )


def _keep_greater(randomness: random.Random) -> ListStep:
    limit = randomness.randint(3, 15)
    return ListStep(
        "select",
        f"remove all numbers less than {limit}",
        lambda numbers: [number for number in numbers if number >= limit],
        f"numbers = [number for number in numbers if number >= {limit}]",
    )


def _sort(randomness: random.Random) -> ListStep:
    descends = randomness.choice([False, True])
    order = "descending" if descends else "ascending"
    return ListStep(
        "order",
        f"sort the numbers in {order} order",
        lambda numbers: sorted(numbers, reverse=descends),
        f"numbers = sorted(numbers, reverse={descends})",
    )


def _reverse(_randomness: random.Random) -> ListStep:
    return ListStep(
        "order",
        "reverse the order of the list",
        lambda numbers: numbers[::-1],
        "numbers = numbers[::-1]",
    )


def _drop_first(randomness: random.Random) -> ListStep:
    n_dropped = randomness.randint(1, 2)
    what = "number" if n_dropped == 1 else write_count(n_dropped, "number")
    return ListStep(
        "cut",
        f"remove the first {what}",
        lambda numbers: numbers[n_dropped:],
        f"numbers = numbers[{n_dropped}:]",
    )


def _drop_repeats(_randomness: random.Random) -> ListStep:
    return ListStep(
        "unique",
        "keep only the first occurrence of every number",
        lambda numbers: list(dict.fromkeys(numbers)),
        "numbers = list(dict.fromkeys(numbers))",
    )


def _add_running_total(_randomness: random.Random) -> ListStep:
    return ListStep(
        "total",
        "replace every number by the sum of all numbers up to and including it",
        lambda numbers: [sum(numbers[: end + 1]) for end in range(len(numbers))],
        "numbers = [sum(numbers[: end + 1]) for end in range(len(numbers))]",
    )


_STEPS: tuple[Callable[[random.Random], ListStep], ...] = (
    _add,
    _multiply,
    _keep_parity,
    _keep_greater,
    _sort,
    _reverse,
    _drop_first,
    _drop_repeats,
    _add_running_total,
)


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

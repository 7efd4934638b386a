"""Arithmetic: expressions of whole numbers, from one operation to five and brackets."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

from poor_bench.generators.generator import Entry, Generator

_TEMPLATE = """\
Calculate: {problem}

Reply with JSON only, such as {"answer": 12}.
"""
_LARGEST = {1: 9, 2: 20, 3: 20, 4: 50, 5: 99}
"""Largest number in an expression of each level; a level has as many operations."""

_LARGEST_RESULT = {1: 100, 2: 1_000, 3: 1_000, 4: 10_000, 5: 10_000}


class _Expression(NamedTuple):
    text: str
    value: Fraction
    binds: int
    """How strongly its outermost operation binds: 1 sums, 2 products, 3 plain numbers."""


def _make(randomness: random.Random, level: int) -> Entry:
    while True:
        expression = _expression(randomness, n_operations=level, largest=_LARGEST[level])
        if abs(expression.value) <= _LARGEST_RESULT[level]:
            break
    return {
        "text": expression.text,
        "evaluation_module": {"parameters": {"expected_answer": int(expression.value)}},
        "reference_response": f'{{"answer": {int(expression.value)}}}',
    }


def _expression(randomness: random.Random, n_operations: int, largest: int) -> _Expression:
    if n_operations == 0:
        number = randomness.randint(1, largest)
        return _Expression(str(number), Fraction(number), 3)
    n_left = randomness.randrange(n_operations)
    left = _expression(randomness, n_left, largest)
    right = _expression(randomness, n_operations - 1 - n_left, largest)
    signs = ["+", "-", "*"] if n_operations > 1 else ["+", "-"]
    if abs(right.value) > 1 and (left.value / right.value).denominator == 1:
        signs.append("/")
    return _join(left, randomness.choice(signs), right)


def _join(left: _Expression, sign: str, right: _Expression) -> _Expression:
    binds = 1 if sign in "+-" else 2
    value = {
        "+": lambda: left.value + right.value,
        "-": lambda: left.value - right.value,
        "*": lambda: left.value * right.value,
        "/": lambda: left.value / right.value,
    }[sign]()
    left_text = left.text if left.binds >= binds else f"({left.text})"
    right_text = right.text if right.binds > binds else f"({right.text})"
    return _Expression(f"{left_text} {sign} {right_text}", value, binds)


ARITHMETIC = Generator(
    name="arithmetic",
    description="Expressions of whole numbers with + - * / and brackets",
    class_entry={
        "description": "Expressions of whole numbers",
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "math_evaluator",
            "parameters": {"precision": 0, "expected_format": "json"},
        },
    },
    make=_make,
)

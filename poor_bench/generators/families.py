"""The generators that are known by name: arithmetic, and strings and code changed step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.generators.generator import Entry, Generator
from poor_bench.generators.lists import LISTS, ListStep, Numbers, apply_steps, draw_steps
from poor_bench.generators.reasoning_gym import PREFIX, make_reasoning_gym_generator
from poor_bench.messages import write_count

_STRINGS_TEMPLATE = """\
{text}

Reply with the resulting word only.
"""
_CONSONANTS = "bdfglmnprstv"
_VOWELS = "aeiou"
_N_SYLLABLES = 3


class _Step(NamedTuple):
    words: str
    apply: Callable[[str], str]


def _make_strings(randomness: random.Random, level: int) -> Entry:
    while True:
        word = _invent_word(randomness)
        steps = _draw_steps(randomness, level)
        result = word
        for step in steps:
            result = step.apply(result)
        if result not in {"", word}:
            break
    orders = [f"{number}. {step.words}" for number, step in enumerate(steps, start=1)]
    return {
        "text": "\n".join([f'Take the word "{word}". Then, in this order:', *orders]),
        "evaluation_module": {"parameters": {"expected": result}},
        "reference_response": result,
    }


def _invent_word(randomness: random.Random) -> str:
    """Invent a word that reads well and that no model has learnt to change."""
    syllables = range(_N_SYLLABLES)
    return "".join(randomness.choice(_CONSONANTS) + randomness.choice(_VOWELS) for _ in syllables)


def _draw_steps(randomness: random.Random, n_steps: int) -> list[_Step]:
    """Draw steps of which no two are alike."""
    return [make(randomness) for make in randomness.sample(_STEPS, n_steps)]


def _reverse(_randomness: random.Random) -> _Step:
    return _Step("write it backwards", lambda word: word[::-1])


def _replace(randomness: random.Random) -> _Step:
    old = randomness.choice("aeinrst")
    new = randomness.choice("xzqwk")
    return _Step(f'replace every "{old}" by "{new}"', lambda word: word.replace(old, new))


def _drop_letter(randomness: random.Random) -> _Step:
    letter = randomness.choice("aeilnort")
    return _Step(f'remove every "{letter}"', lambda word: word.replace(letter, ""))


def _rotate(randomness: random.Random) -> _Step:
    n_moved = randomness.randint(1, 3)
    what = "letter" if n_moved == 1 else write_count(n_moved, "letter")
    return _Step(f"move the first {what} to the end", lambda word: word[n_moved:] + word[:n_moved])


def _double_last(_randomness: random.Random) -> _Step:
    return _Step("write the last letter twice", lambda word: word + word[-1:])


def _sort(_randomness: random.Random) -> _Step:
    return _Step("put its letters into alphabetical order", lambda word: "".join(sorted(word)))


def _swap_ends(_randomness: random.Random) -> _Step:
    return _Step(
        "swap the first and the last letter",
        lambda word: word[-1] + word[1:-1] + word[0] if len(word) > 1 else word,
    )


_STEPS = (_reverse, _replace, _drop_letter, _rotate, _double_last, _sort, _swap_ends)

STRINGS = Generator(
    name="strings",
    description="Steps that turn a word into another",
    class_entry={
        "description": "Follow steps that change the letters of a word",
        "work_prompt_template": {"default": _STRINGS_TEMPLATE},
        "evaluation_module": {"name": "exact_match", "parameters": {}},
    },
    make=_make_strings,
)


_CODE_TEMPLATE = """\
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


def _make_code(randomness: random.Random, level: int) -> Entry:
    steps = draw_steps(randomness, n_steps=level)
    ending = randomness.choice(_ENDINGS)
    inputs = [[], *(_draw_numbers(randomness, length) for length in range(1, _N_CASES))]
    cases = [
        {"input": [numbers], "expected_output": ending.apply(apply_steps(steps, numbers))}
        for numbers in inputs
    ]
    return {
        "text": _write_task(steps, ending),
        "evaluation_module": {"parameters": {"function_name": "solve", "test_cases": cases}},
        "reference_response": _write_solution(steps, ending),
    }


def _draw_numbers(randomness: random.Random, length: int) -> Numbers:
    return [randomness.randint(-5, 25) for _ in range(length + 2)]


def _write_task(steps: list[ListStep], ending: _Ending) -> str:
    orders = [*(step.words for step in steps), ending.words]
    listed = [f"{number}. {words}" for number, words in enumerate(orders, start=1)]
    head = "Write a Python function `solve(numbers)`. It takes a list of whole numbers and shall:"
    return "\n".join([head, *listed])


def _write_solution(steps: list[ListStep], ending: _Ending) -> str:
    lines = [*(step.source for step in steps), f"return {ending.source}"]
    body = "\n".join(f"    {line}" for line in lines)
    return f"```python\ndef solve(numbers):\n{body}\n```"


CODE = Generator(
    name="code",
    description="Python functions that change a list of numbers step by step",
    class_entry={
        "description": "Write a Python function from a list of steps",
        "work_prompt_template": {"default": _CODE_TEMPLATE},
        "evaluation_module": {
            "name": "python_evaluator",
            "parameters": {"execution_timeout": 5},
        },
    },
    make=_make_code,
)


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
        expression = _draw_expression(randomness, n_operations=level, largest=_LARGEST[level])
        if abs(expression.value) <= _LARGEST_RESULT[level]:
            break
    return {
        "text": expression.text,
        "evaluation_module": {"parameters": {"expected_answer": int(expression.value)}},
        "reference_response": f'{{"answer": {int(expression.value)}}}',
    }


def _draw_expression(randomness: random.Random, n_operations: int, largest: int) -> _Expression:
    if n_operations == 0:
        number = randomness.randint(1, largest)
        return _Expression(str(number), Fraction(number), 3)
    n_left = randomness.randrange(n_operations)
    left = _draw_expression(randomness, n_left, largest)
    right = _draw_expression(randomness, n_operations - 1 - n_left, largest)
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


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {generator.name: generator for generator in (ARITHMETIC, LISTS, STRINGS, CODE)}
)


def find_generator(name: str) -> Generator:
    """Find a generator.

    Raises:
        ConfigError: If there is none of that name.
        MissingExtraError: If it needs a library that is not installed.
    """
    if name.startswith(PREFIX):
        return make_reasoning_gym_generator(name)
    if name not in GENERATORS:
        raise ConfigError(
            f"the generator `{name}` does not exist", hint=name_hint(name, GENERATORS)
        )
    return GENERATORS[name]

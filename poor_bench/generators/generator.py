"""What a generator is, and how tests are drawn from it, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from poor_bench.prompts import hash_text

Entry = dict[str, Any]
"""A test class or test as it stands in its file."""

LEVELS = range(1, 6)

_MAX_DRAWS_PER_TEST = 50
"""Draws after which a level is taken to have no further test to offer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A family of tests that are made by rule."""

    name: str
    """What users call it; also the id of the class, unless they choose another."""
    description: str
    """What it is, in a sentence."""
    class_entry: Entry
    """The test class, without its id."""
    make: Callable[[random.Random, int], Entry]
    """Makes a test of a level from 1 to 5 out of the given randomness: `text` or `texts`,
    `evaluation_module` with parameters, `reference_response`."""


def generate(
    generator: Generator, class_id: str, levels: Sequence[int], n_tests: int, seed: int
) -> Iterator[Entry]:
    """Yield tests that all differ, spread evenly over the levels.

    Tests whose texts differ only in numbers, lists and quoted words are of one group.

    The same arguments give the same tests; asking for more gives the same ones and then further
    ones. A level that has fewer different tests than asked for yields those it has.

    Args:
        generator: Makes them.
        class_id: The class that they shall belong to.
        levels: At least one, from `LEVELS`.
        n_tests: In all, at least 1.
        seed: Any number.
    """
    for position, level in enumerate(levels):
        share = len(range(position, n_tests, len(levels)))
        tests = _drop_repeats(generator, level, seed)
        for number, test in zip(range(1, share + 1), tests, strict=False):
            test_id = f"{class_id}_{seed}_{level}_{number:03}"
            group = f"{class_id} {_name_template(test['text'])}"
            entry = {"test_id": test_id, "class_id": class_id, "level": level, "group": group}
            yield entry | test


_FILLED_IN = re.compile(r"\[[^\[\]]*\]|\"[^\"]*\"|-?\d+(?:\.\d+)?")
"""Lists, quoted words and numbers."""


def _name_template(text: str) -> str:
    """Name the template of a text: that of all texts that differ only in what is filled in."""
    return hash_text(_FILLED_IN.sub("_", text), 8)


def _drop_repeats(generator: Generator, level: int, seed: int) -> Iterator[Entry]:
    seen: set[str] = set()
    n_draws = 0
    for number in count():
        test = generator.make(random.Random(f"{generator.name}/{level}/{seed}/{number}"), level)
        n_draws += 1
        if test["text"] not in seen:
            seen.add(test["text"])
            n_draws = 0
            yield test
        elif n_draws >= _MAX_DRAWS_PER_TEST:
            return

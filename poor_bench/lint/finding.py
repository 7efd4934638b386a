"""What a check says: a problem, and where it is safe how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from poor_bench.config.report import Place
from poor_bench.models.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A change of one test that cannot make it worse."""

    test_id: str
    place: Place
    """Where within the entry of the test."""
    value: Any
    """What shall stand there."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong with a test or a class of tests."""

    problem: Problem
    find_fixes: Callable[[], Iterable[Fix]] = tuple
    """Finds out how to mend it; most who look for problems need not know."""

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """How to mend it, where that is safe."""
        return tuple(self.find_fixes())

"""One way to break out, and how it is tried."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from poor_bench.sandbox.levels import Level, Mechanism, SandboxStatus
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.outcomes import CaseEnd, CaseOutcome
from poor_bench.sandbox.program import Program
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.selftest.ground import Ground

LIMITS = Limits(case_s=2.0, total_s=10.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to break out.

    Attributes:
        name: What is tried, in a few words.
        holds_from: The lowest level that promises to withstand it.
        evidence: Tries it; returns what shows that it got through, or an empty text.
        needs: Must be in force, whatever the level.
    """

    name: str
    holds_from: Level
    evidence: Callable[[Sandbox, Ground], str]
    needs: Mechanism | None = None

    def is_promised(self, status: SandboxStatus) -> bool:
        """Tell whether a sandbox promises to withstand it."""
        return self.holds_from <= status.level and self.needs not in status.missing


def attempt(sandbox: Sandbox, attack: Callable[..., object], *arguments: Any) -> CaseOutcome:
    """Run an attack in the sandbox and return how it ended."""
    return sandbox.run_cases(program_of(attack), [list(arguments)]).cases[0]


def claim(sandbox: Sandbox, attack: Callable[..., object], *arguments: Any) -> str:
    """Run an attack in the sandbox and return what it says that it achieved."""
    outcome = attempt(sandbox, attack, *arguments)
    if outcome.end is CaseEnd.RETURNED and isinstance(outcome.value, str):
        return outcome.value
    return ""


def program_of(attack: Callable[..., object]) -> Program:
    """Return the program that consists of one attack."""
    return Program(source=inspect.getsource(attack), function=attack.__name__, limits=LIMITS)

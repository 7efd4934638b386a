"""What became of a gate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from poor_bench.gates.gate import Gate


class GateStatus(StrEnum):
    """Whether a gate holds."""

    PASSED = "passed"
    WARNING = "warning"
    """It may not hold, but chance is not ruled out; or something beside it is amiss."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """A gate for one LLM, on all tests or on one class."""

    gate: Gate
    status: GateStatus
    llm_id: str = ""
    """Empty where no LLM could be checked at all."""
    class_id: str | None = None
    """None where all tests were looked at together."""
    observed: float | None = None
    """In the unit of the gate's kind; None where there was nothing to check."""
    reason: str
    """What was seen, in one sentence."""


def made_strict(outcomes: Iterable[GateOutcome]) -> list[GateOutcome]:
    """Return outcomes of which every warning became a failure."""
    return [
        replace(outcome, status=GateStatus.FAILED)
        if outcome.status is GateStatus.WARNING
        else outcome
        for outcome in outcomes
    ]


def has_failed(outcomes: Iterable[GateOutcome]) -> bool:
    """Return whether any gate failed."""
    return any(outcome.status is GateStatus.FAILED for outcome in outcomes)

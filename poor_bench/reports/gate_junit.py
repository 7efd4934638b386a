"""Outcomes of gates as JUnit XML: a case for each gate, model and class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poor_bench.gates.gate import GateOutcome, GateStatus
from poor_bench.reports.gate_text import gate_title
from poor_bench.reports.junit import JUnitCase, JUnitProblem, JUnitSuite, write_junit


def gates_to_junit(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> str:
    """Write a suite of gates; a warning is a skipped case, since it neither passed nor failed.

    Args:
        outcomes: In any order.
        names: LLM id to what screens call it.
    """
    cases = [_build_case(outcome, names) for outcome in outcomes]
    return write_junit("gates", [JUnitSuite(name="gates", cases=cases)])


_TAGS = {GateStatus.FAILED: ("failure", "gate"), GateStatus.WARNING: ("skipped", "")}


def _build_case(outcome: GateOutcome, names: Mapping[str, str]) -> JUnitCase:
    title = gate_title(outcome.gate)
    tag, kind = _TAGS.get(outcome.status, ("", ""))
    return JUnitCase(
        class_name=names.get(outcome.llm_id, outcome.llm_id) or "all models",
        name=f"{title}, {outcome.class_id}" if outcome.class_id else title,
        problem=JUnitProblem(tag=tag, kind=kind, message=outcome.reason) if tag else None,
        output="" if tag else outcome.reason,
    )

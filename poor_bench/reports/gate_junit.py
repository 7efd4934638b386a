"""Outcomes of gates as JUnit XML: a case for each gate, model and class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from poor_bench.gates.gate import GateOutcome, GateStatus
from poor_bench.reports.gate_text import gate_title
from poor_bench.reports.junit_report import xml_text


def gates_to_junit(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> str:
    """Write a suite of gates; a warning is a skipped case, since it neither passed nor failed.

    Args:
        outcomes: In any order.
        names: LLM id to what screens call it.
    """
    counts = Counter(outcome.status for outcome in outcomes)
    root = Element("testsuites", name="gates")
    suite = SubElement(
        root,
        "testsuite",
        name="gates",
        tests=str(len(outcomes)),
        failures=str(counts[GateStatus.FAILED]),
        errors="0",
        skipped=str(counts[GateStatus.WARNING]),
    )
    for outcome in outcomes:
        _add_case(suite, outcome, names)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_case(suite: Element, outcome: GateOutcome, names: Mapping[str, str]) -> None:
    model = names.get(outcome.llm_id, outcome.llm_id) or "all models"
    title = gate_title(outcome.gate)
    name = f"{title}, {outcome.class_id}" if outcome.class_id else title
    case = SubElement(suite, "testcase", classname=xml_text(model), name=xml_text(name))
    reason = xml_text(outcome.reason)
    if outcome.status is GateStatus.FAILED:
        SubElement(case, "failure", type="gate", message=reason)
    elif outcome.status is GateStatus.WARNING:
        SubElement(case, "skipped", message=reason)
    else:
        SubElement(case, "system-out").text = reason

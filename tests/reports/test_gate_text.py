from __future__ import annotations

from xml.etree.ElementTree import fromstring

from poor_bench.gates.gate import Gate, GateKind, GateOutcome, GateStatus
from poor_bench.reports.gate_text import (
    gate_annotations,
    gate_title,
    gates_to_json,
    gates_to_junit,
    gates_to_markdown,
    write_headline,
)

GATE = Gate(kind=GateKind.MIN_SCORE, limit=0.8)
PASSED = GateOutcome(gate=GATE, status=GateStatus.PASSED, llm_id="a", reason="fine", observed=0.9)
FAILED = GateOutcome(
    gate=GATE, status=GateStatus.FAILED, llm_id="b", class_id="maths", reason="50 %\n<b>low</b>"
)
WARNING = GateOutcome(gate=GATE, status=GateStatus.WARNING, llm_id="b", reason="may be chance")


def test_headline_counts_what_became_of_the_gates() -> None:
    assert write_headline([PASSED, WARNING]) == "Gates passed: 0 failed, 1 warning, 1 passed"
    assert write_headline([PASSED, FAILED]) == "Gates failed: 1 failed, 0 warnings, 1 passed"


def test_markdown_shows_the_worst_first_and_no_markup_of_others() -> None:
    shown = gates_to_markdown([PASSED, FAILED], {"a": "Ann"})
    rows = [line for line in shown.splitlines() if "`" in line]
    assert rows[0] == "| ❌ | score at least 0.8 | `b` | `maths` | `50 % <b>low</b>` |"
    assert "| `Ann` | all | `fine` |" in rows[1]


def test_annotations_are_one_escaped_line_each() -> None:
    assert list(gate_annotations([PASSED, WARNING, FAILED])) == [
        "::error::score at least 0.8: b maths: 50 %25%0A<b>low</b>",
        "::warning::score at least 0.8: b: may be chance",
    ]


def test_json_says_whether_all_passed() -> None:
    document = gates_to_json([PASSED, FAILED])
    assert document["passed"] is False
    assert document["gates"][0]["observed"] == 0.9


def test_every_kind_of_gate_has_a_title() -> None:
    assert all(gate_title(Gate(kind=kind, limit=0.5)) for kind in GateKind)


def test_junit_has_a_case_for_each_outcome_and_skips_warnings() -> None:
    [suite] = fromstring(gates_to_junit([PASSED, WARNING, FAILED], {"a": "Ann"}))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    passed, warning, failed = suite
    assert passed.get("classname") == "Ann"
    assert [child.tag for child in warning] == ["skipped"]
    assert failed.get("name") == "score at least 0.8, maths"
    assert failed[0].get("message") == "50 %\n<b>low</b>"

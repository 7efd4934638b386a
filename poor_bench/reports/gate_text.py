"""Outcomes of gates as Markdown, as annotations of a GitHub workflow, and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from poor_bench.gates.gate import Gate, GateKind, GateOutcome, GateStatus, has_failed
from poor_bench.messages import write_count
from poor_bench.reports.markdown_text import code_span, table

_SIGNS = {GateStatus.PASSED: "✅", GateStatus.WARNING: "⚠️", GateStatus.FAILED: "❌"}
_ORDER = (GateStatus.FAILED, GateStatus.WARNING, GateStatus.PASSED)
_TITLES = {
    GateKind.MIN_SCORE: "score at least {limit:g}",
    GateKind.MIN_PASSED: "pass rate at least {limit:g}",
    GateKind.MAX_P95_MS: "95 % within {limit:g} ms",
    GateKind.MAX_COST_USD: "cost at most ${limit:g}",
    GateKind.MIN_SCORED_SHARE: "scored share at least {limit:g}",
    GateKind.NO_REGRESSION: "no drop beyond {limit:g}",
    GateKind.UP_TO_DATE: "up to date",
}


def gate_title(gate: Gate) -> str:
    """Describe a gate, such as `score at least 0.8`."""
    return _TITLES[gate.kind].format(limit=gate.limit)


def worst_first(outcomes: Sequence[GateOutcome]) -> list[GateOutcome]:
    """Sort outcomes: failed, warnings, passed."""
    return sorted(outcomes, key=lambda outcome: _ORDER.index(outcome.status))


def headline(outcomes: Sequence[GateOutcome]) -> str:
    """Summarise outcomes, such as `Gates failed: 1 failed, 2 warnings, 3 passed`."""
    counts = Counter(outcome.status for outcome in outcomes)
    n_warnings = counts[GateStatus.WARNING]
    ended = "failed" if has_failed(outcomes) else "passed"
    return (
        f"Gates {ended}: {counts[GateStatus.FAILED]} failed, "
        f"{write_count(n_warnings, 'warning')}, {counts[GateStatus.PASSED]} passed"
    )


def gates_to_markdown(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> str:
    """Write a heading and a table, worst first.

    Args:
        outcomes: At least one.
        names: LLM id to what screens call it.
    """
    rows = [
        [
            _SIGNS[outcome.status],
            gate_title(outcome.gate),
            code_span(names.get(outcome.llm_id, outcome.llm_id)),
            code_span(outcome.class_id) if outcome.class_id else "all",
            code_span(outcome.reason, limit=400),
        ]
        for outcome in worst_first(outcomes)
    ]
    sign = _SIGNS[GateStatus.FAILED if has_failed(outcomes) else GateStatus.PASSED]
    listed = table(("", "Gate", "Model", "Class", "Seen"), rows)
    return f"### {sign} {headline(outcomes)}\n\n{listed}\n"


def gate_annotations(outcomes: Sequence[GateOutcome]) -> Iterator[str]:
    """Yield a line for each failure and warning that GitHub shows beside a workflow's run.

    Source:
        GitHub, "Workflow commands for GitHub Actions": `%`, carriage return and line feed are
        written as percent codes.
    """
    for outcome in worst_first(outcomes):
        if outcome.status is not GateStatus.PASSED:
            level = "error" if outcome.status is GateStatus.FAILED else "warning"
            where = " ".join(filter(None, (outcome.llm_id, outcome.class_id)))
            yield f"::{level}::{_escape(f'{gate_title(outcome.gate)}: {where}: {outcome.reason}')}"


def gates_to_json(outcomes: Sequence[GateOutcome]) -> dict[str, Any]:
    """Build the document that `gate --json` prints."""
    return {
        "passed": not has_failed(outcomes),
        "gates": [
            {
                "gate": outcome.gate.kind.value,
                "limit": outcome.gate.limit,
                "baseline": outcome.gate.baseline,
                "llm_id": outcome.llm_id,
                "class_id": outcome.class_id,
                "status": outcome.status.value,
                "observed": outcome.observed,
                "reason": outcome.reason,
                "verdict": outcome.verdict.value if outcome.verdict else None,
                "low": outcome.low,
                "high": outcome.high,
            }
            for outcome in outcomes
        ],
    }


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

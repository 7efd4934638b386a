"""Check gates against evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from poor_bench.gates.evidence import Evidence, Part
from poor_bench.gates.gate import IMPLIED_GATES, Gate, GateKind
from poor_bench.gates.outcome import GateOutcome, GateStatus, made_strict
from poor_bench.gates.regression import check_regression
from poor_bench.gates.thresholds import (
    NOTHING,
    Finding,
    check_cost,
    check_p95,
    check_pass_rate,
    check_score,
    check_scored_share,
)
from poor_bench.messages import counted
from poor_bench.models.llm import LLM


def check_gates(
    gates: Sequence[Gate], evidence: Evidence, *, strict: bool = False
) -> list[GateOutcome]:
    """Return what became of each gate, for every LLM and class that it names.

    Scored share and up-to-dateness are looked at in any case, and warn where something is amiss
    unless a gate asks for more. A gate that finds nothing to check fails.

    Args:
        gates: What must hold.
        evidence: What is known.
        strict: Whether every warning is a failure.

    Raises:
        ValueError: If no gate is defined.
    """
    if not gates:
        raise ValueError("no gate is defined")
    asked = {gate.kind for gate in gates}
    implied = [gate for gate in IMPLIED_GATES if gate.kind not in asked]
    outcomes = [outcome for gate in (*gates, *implied) for outcome in _outcomes_of(gate, evidence)]
    return made_strict(outcomes) if strict else outcomes


def _outcomes_of(gate: Gate, evidence: Evidence) -> list[GateOutcome]:
    outcomes = list(_checked(gate, evidence))
    if gate.only_warns:
        return [
            replace(outcome, status=GateStatus.WARNING)
            for outcome in outcomes
            if outcome.status is not GateStatus.PASSED
        ]
    if all(outcome.observed is None for outcome in outcomes):
        named = "no LLM" if not outcomes else "no model"
        reason = f"{NOTHING}{named} has results for this gate"
        failed = [outcome for outcome in outcomes if outcome.status is GateStatus.FAILED]
        return failed or [GateOutcome(gate=gate, status=GateStatus.FAILED, reason=reason)]
    return outcomes


def _checked(gate: Gate, evidence: Evidence) -> Iterator[GateOutcome]:
    for llm in evidence.llms:
        if not gate.is_about(llm.id, llm.label):
            continue
        if not evidence.results.get(llm.id):
            yield from _never_run(gate, llm, evidence)
            continue
        for class_id in _classes_of(gate, evidence):
            finding = _finding(gate, evidence.part(llm.id, class_id), evidence)
            yield GateOutcome(
                gate=gate,
                llm_id=llm.id,
                class_id=class_id,
                status=finding.status,
                observed=finding.observed,
                reason=finding.reason,
            )


def _never_run(gate: Gate, llm: LLM, evidence: Evidence) -> Iterator[GateOutcome]:
    """Yield a failure for an LLM that was named, and else one warning for all gates together."""
    reason = f"{NOTHING}it was never run"
    if llm.id in evidence.named or gate.llm_pattern in {llm.id, llm.label}:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.FAILED, reason=reason)
    elif gate.kind is GateKind.MIN_SCORED_SHARE:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.WARNING, reason=reason)


def _classes_of(gate: Gate, evidence: Evidence) -> Iterable[str | None]:
    if gate.class_pattern is None:
        return [None]
    return [class_id for class_id in evidence.classes() if gate.is_about_class(class_id)]


def _finding(gate: Gate, part: Part, evidence: Evidence) -> Finding:
    match gate.kind:
        case GateKind.MIN_PASSED:
            return check_pass_rate(part, gate.limit, evidence.pass_score)
        case GateKind.NO_REGRESSION:
            comparisons = evidence.comparisons.get(gate.baseline, {})
            return check_regression(comparisons.get(part.llm_id), part.class_id)
        case GateKind.UP_TO_DATE:
            n_untold = 0 if gate.only_warns else part.n_untold
            return _check_up_to_date(evidence.n_stale.get(part.llm_id, 0), n_untold)
        case _:
            return _LIMIT_CHECKS[gate.kind](part, gate.limit)


_LIMIT_CHECKS: Mapping[GateKind, Callable[[Part, float], Finding]] = {
    GateKind.MIN_SCORE: check_score,
    GateKind.MAX_P95_MS: check_p95,
    GateKind.MAX_COST_USD: check_cost,
    GateKind.MIN_SCORED_SHARE: check_scored_share,
}


def _check_up_to_date(n_stale: int, n_untold: int) -> Finding:
    if n_stale:
        stale = counted(n_stale, "result")
        reason = f"{stale} of another prompt, other parameters or another evaluator"
        return Finding(GateStatus.FAILED, n_stale, reason)
    if n_untold:
        reason = f"{counted(n_untold, 'result')} of an older tool, without prompt and evaluator"
        return Finding(GateStatus.WARNING, 0, reason)
    return Finding(GateStatus.PASSED, 0, "all results are up to date")

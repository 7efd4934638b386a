"""Outcomes of gates and plans of gates: Markdown, annotations of GitHub, JUnit XML, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from poor_bench.gates.gate import Gate, GateKind, GateOutcome, GateStatus, has_failed
from poor_bench.gates.plan import DropPlan
from poor_bench.messages import write_count, write_share
from poor_bench.reports.markdown_text import quote_code, write_table
from poor_bench.statistics.non_inferiority import MOST_TRIALS, VarianceSource

if TYPE_CHECKING:
    from poor_bench.reports.junit import JUnitCase

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


def sort_worst_first(outcomes: Sequence[GateOutcome]) -> list[GateOutcome]:
    """Sort outcomes: failed, warnings, passed."""
    return sorted(outcomes, key=lambda outcome: _ORDER.index(outcome.status))


def write_headline(outcomes: Sequence[GateOutcome]) -> str:
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
            quote_code(names.get(outcome.llm_id, outcome.llm_id)),
            quote_code(outcome.class_id) if outcome.class_id else "all",
            quote_code(outcome.reason, limit=400),
        ]
        for outcome in sort_worst_first(outcomes)
    ]
    sign = _SIGNS[GateStatus.FAILED if has_failed(outcomes) else GateStatus.PASSED]
    listed = write_table(("", "Gate", "Model", "Class", "Seen"), rows)
    return f"### {sign} {write_headline(outcomes)}\n\n{listed}\n"


def gate_annotations(outcomes: Sequence[GateOutcome]) -> Iterator[str]:
    """Yield a line for each failure and warning that GitHub shows beside a workflow's run.

    Source:
        GitHub, "Workflow commands for GitHub Actions": `%`, carriage return and line feed are
        written as percent codes.
    """
    for outcome in sort_worst_first(outcomes):
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


def gates_to_junit(outcomes: Sequence[GateOutcome], names: Mapping[str, str]) -> str:
    """Write a suite of gates; a warning is a skipped case, since it neither passed nor failed.

    Args:
        outcomes: In any order.
        names: LLM id to what screens call it.
    """
    from poor_bench.reports.junit import JUnitSuite, write_junit

    cases = [_build_case(outcome, names) for outcome in outcomes]
    return write_junit("gates", [JUnitSuite(name="gates", cases=cases)])


_TAGS = {GateStatus.FAILED: ("failure", "gate"), GateStatus.WARNING: ("skipped", "")}


def _build_case(outcome: GateOutcome, names: Mapping[str, str]) -> JUnitCase:
    from poor_bench.reports.junit import JUnitCase, JUnitProblem

    title = gate_title(outcome.gate)
    tag, kind = _TAGS.get(outcome.status, ("", ""))
    return JUnitCase(
        class_name=names.get(outcome.llm_id, outcome.llm_id) or "all models",
        name=f"{title}, {outcome.class_id}" if outcome.class_id else title,
        problem=JUnitProblem(tag=tag, kind=kind, message=outcome.reason) if tag else None,
        output="" if tag else outcome.reason,
    )


_SOURCES = {
    VarianceSource.REPEATS: "from repeated trials",
    VarianceSource.PAIRS: "from one trial on both sides; too large where tests changed",
    VarianceSource.ASSUMED: "assumed: no test has two trials",
}


def plan_lines(plan: DropPlan, name: str) -> Iterator[str]:
    """Yield what a plan comes to, in sentences.

    Args:
        plan: One LLM, on all tests or on one class.
        name: What screens call the LLM.
    """
    where = f", class {plan.class_id}" if plan.class_id else ""
    flips = 2 * plan.trials.variance
    yield f"{name}{where}: {write_count(plan.trials.n_tests, 'test')}, {_describe_baseline(plan)}"
    yield (
        f"  Trials of one test differ with a variance of {plan.trials.variance:.3f} "
        f"(pass or fail: two differ in {write_share(flips)}); {_SOURCES[plan.source]}."
    )
    need = _describe_need(plan, plan.trials_to_pass)
    yield f"  An unchanged model passes in {write_share(plan.power)}: {need}."
    yield from _drop_lines(plan)


def _drop_lines(plan: DropPlan) -> Iterator[str]:
    n_trials = plan.trials_to_fail
    if plan.drop <= plan.trials.tolerance:
        yield f"  A drop of {plan.drop:g} is within the tolerance and does not fail."
        return
    need = _describe_need(plan, n_trials)
    yield f"  A drop of {plan.drop:g} fails in {write_share(plan.power)}: {need}."
    if n_trials is not None:
        n_tests, chance = plan.trials.n_tests, plan.trials.chance_of_fail(n_trials, plan.drop)
        size = f"{write_count(n_tests, 'test')} x {write_count(n_trials, 'trial')}"
        yield f"  {size} see a drop of {plan.drop:g} in {write_share(chance)}."


def plan_rows(plan: DropPlan) -> list[dict[str, str]]:
    """Build a table of chances; `>` before a heading aligns it to the right."""
    return [
        {
            ">Trials per test": f"{row.n_trials:,}",
            ">Unchanged passes": write_share(row.passes_unchanged),
            f">Drop of {plan.drop:g} fails": write_share(row.fails_on_drop),
            f">Drop seen in {write_share(plan.power)}": _drop_text(row.smallest_drop),
        }
        for row in plan.rows()
    ]


def plans_to_json(plans: Sequence[DropPlan]) -> dict[str, Any]:
    """Build the document that `gate --plan --json` prints."""
    return {"plans": [_plan_to_json(plan) for plan in plans]}


def _plan_to_json(plan: DropPlan) -> dict[str, Any]:
    equal = plan.with_equal_trials()
    return {
        "llm_id": plan.llm_id,
        "class_id": plan.class_id,
        "n_tests": plan.trials.n_tests,
        "n_trials_before": plan.trials.n_before,
        "tolerance": plan.trials.tolerance,
        "drop": plan.drop,
        "power": plan.power,
        "trial_variance": plan.trials.variance,
        "variance_source": plan.source.value,
        "trials_to_pass": plan.trials_to_pass,
        "trials_to_fail": plan.trials_to_fail,
        "trials_to_pass_with_new_baseline": equal.trials_to_pass,
        "trials_to_fail_with_new_baseline": equal.trials_to_fail,
        "rows": [
            {
                "n_trials": row.n_trials,
                "passes_unchanged": row.passes_unchanged,
                "fails_on_drop": row.fails_on_drop,
                "smallest_drop": row.smallest_drop,
            }
            for row in plan.rows()
        ],
    }


def _describe_baseline(plan: DropPlan) -> str:
    tolerance = f"tolerance {plan.trials.tolerance:g}"
    if plan.trials.n_before is None:
        return f"as many trials in the baseline as after, {tolerance}"
    return f"{plan.trials.n_before:.3g} trials per test in the baseline, {tolerance}"


def _describe_need(plan: DropPlan, n_trials: int | None) -> str:
    if n_trials is not None:
        return f"{write_count(n_trials, 'trial')} per test"
    if plan.trials.n_before is None:
        return f"not with {MOST_TRIALS:,} trials per test; add tests or widen the tolerance"
    equal = plan.with_equal_trials()
    both = max(equal.trials_to_pass or 0, equal.trials_to_fail or 0)
    if not both:
        return "not with any number of trials; add tests or widen the tolerance"
    return (
        "not with any number of trials, since the baseline has too few; "
        f"{write_count(both, 'trial')} per test on both sides do"
    )


def _drop_text(drop: float | None) -> str:
    return "none" if drop is None else f"{drop:.3f}"

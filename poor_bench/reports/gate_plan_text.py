"""Planned checks for regressions: sentences, a table, and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from poor_bench.gates.plan import DropPlan
from poor_bench.messages import write_count
from poor_bench.statistics.non_inferiority import MOST_TRIALS, VarianceSource

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
    yield f"{name}{where}: {write_count(plan.trials.n_tests, 'test')}, {_baseline_text(plan)}"
    yield (
        f"  Trials of one test differ with a variance of {plan.trials.variance:.3f} "
        f"(pass or fail: two differ in {flips:.0%}); {_SOURCES[plan.source]}."
    )
    need = _describe_need(plan, plan.trials_to_pass)
    yield f"  An unchanged model passes in {plan.power:.0%}: {need}."
    yield from _drop_lines(plan)


def _drop_lines(plan: DropPlan) -> Iterator[str]:
    n_trials = plan.trials_to_fail
    if plan.drop <= plan.trials.tolerance:
        yield f"  A drop of {plan.drop:g} is within the tolerance and does not fail."
        return
    yield f"  A drop of {plan.drop:g} fails in {plan.power:.0%}: {_describe_need(plan, n_trials)}."
    if n_trials is not None:
        n_tests, chance = plan.trials.n_tests, plan.trials.chance_of_fail(n_trials, plan.drop)
        size = f"{write_count(n_tests, 'test')} x {write_count(n_trials, 'trial')}"
        yield f"  {size} see a drop of {plan.drop:g} in {chance:.0%}."


def plan_rows(plan: DropPlan) -> list[dict[str, str]]:
    """Build a table of chances; `>` before a heading aligns it to the right."""
    return [
        {
            ">Trials per test": f"{row.n_trials:,}",
            ">Unchanged passes": f"{row.passes_unchanged:.0%}",
            f">Drop of {plan.drop:g} fails": f"{row.fails_on_drop:.0%}",
            f">Drop seen in {plan.power:.0%}": _drop_text(row.smallest_drop),
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


def _baseline_text(plan: DropPlan) -> str:
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

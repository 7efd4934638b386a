"""`compare --why`: attribute a change to its causes by re-runs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.cli.output import print_json, print_table, say
from poor_bench.cli.process import stop_on_signal
from poor_bench.cli.sandbox import agree_on_sandbox
from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.metrics import cost_text, write_signed

if TYPE_CHECKING:
    from poor_bench.autopsy.autopsy import Autopsy, AutopsyCase
    from poor_bench.autopsy.findings import Findings, Share
    from poor_bench.cli.context import AppContext
    from poor_bench.comparison.result_set import ResultSet
    from poor_bench.llm_manager import LLMManager


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyOptions:
    """Limits of the re-runs."""

    max_calls: int | None
    max_cost: float | None
    dry_run: bool


def explain_change(
    app: AppContext, before: ResultSet, after: ResultSet, options: WhyOptions, *, as_json: bool
) -> int:
    """Find out why each model of both sides changed, and print it.

    Raises:
        ConfigError: If no model has results on both sides.
    """
    from poor_bench.autopsy.autopsy import Autopsy
    from poor_bench.comparison.result_set import pair_llms
    from poor_bench.llm_manager import LLMManager

    llm_ids = [llm_id for llm_id, other in pair_llms(before, after) if llm_id == other]
    if not llm_ids:
        raise ConfigError(
            "--why explains changes of one model between two runs; none is on both sides",
            hint=f"name two runs: {next_command('compare previous last --why')}",
        )
    found = []
    exit_code = 0
    with closing(LLMManager(app.data_dir)) as manager:
        autopsy = Autopsy(app.config, manager)
        cases = [autopsy.open_case(before, after, each, options.max_calls) for each in llm_ids]
        _limit_cost(manager, cases, options.max_cost)
        for case in cases:
            name = app.llm_names.get(case.llm.id, case.llm.id)
            if not as_json:
                _print_plan(case, name, _estimate_cost_usd(autopsy, case))
            if options.dry_run:
                found.append(_plan_to_json(case, _estimate_cost_usd(autopsy, case)))
                continue
            findings, code = _run(app, autopsy, case, quiet=as_json)
            exit_code = max(exit_code, code)
            found.append(findings.as_json())
            if not as_json:
                _print_findings(findings)
    if as_json:
        print_json({"before": before.name, "after": after.name, "why": found})
    return exit_code


def _limit_cost(manager: LLMManager, cases: list[AutopsyCase], max_cost: float | None) -> None:
    from poor_bench.calls.budget import Budget, require_prices

    if max_cost is not None:
        require_prices([case.llm for case in cases], manager.is_local)
        manager.budget = Budget(max_cost)


def _estimate_cost_usd(autopsy: Autopsy, case: AutopsyCase) -> float | None:
    each = autopsy.cost_per_test_usd(case)
    return None if each is None else each * case.plan.n_calls


def _run(
    app: AppContext, autopsy: Autopsy, case: AutopsyCase, *, quiet: bool
) -> tuple[Findings, int]:
    from poor_bench.cli.screen import open_job_view
    from poor_bench.pool.control import RunControl

    plan, control = case.plan, RunControl()
    if not plan.n_calls:
        return autopsy.run(case, control), 0
    agree_on_sandbox(app, [test.test for test in plan.facts.tests])
    with open_job_view("Re-runs", plan.n_calls, quiet=quiet) as view, stop_on_signal(control):
        findings = autopsy.run(case, control, lambda n_done: view.move(completed=n_done))
    if control.cancelled():
        return findings, 130
    return findings, 3 if findings.stopped else 0


def _print_plan(case: AutopsyCase, name: str, cost_usd: float | None) -> None:
    facts, plan = case.plan.facts, case.plan
    say(f"\n{name}: {write_count(len(facts.tests), 'test')} with a score on both sides")
    names = [factor.text for factor in facts.factors]
    names += [f"evaluator {each}" for each in case.evaluator_changes]
    names += [f"{each}; cannot be re-run" for each in facts.fixed]
    say("Changed:" if names else "Nothing is known to have changed.")
    for each in names:
        say(f"  {each}")
    cost = f" Estimated cost: {cost_text(cost_usd)}." if cost_usd else ""
    say(f"{plan.text}{cost}")


def _plan_to_json(case: AutopsyCase, cost_usd: float | None) -> dict[str, Any]:
    facts, plan = case.plan.facts, case.plan
    return {
        "llm_id": case.llm.id,
        "n_tests": len(facts.tests),
        "changed": [factor._asdict() for factor in facts.factors],
        "evaluators": list(case.evaluator_changes),
        "not_re_run": list(facts.fixed),
        "n_calls": plan.n_calls,
        "n_calls_full_factorial": plan.n_full,
        "estimated_cost_usd": cost_usd,
        "remarks": [*facts.remarks, *case.remarks],
    }


def _print_findings(findings: Findings) -> None:
    change = findings.change
    say(
        f"Change: {write_signed(change.value)} "
        f"({write_signed(change.low)} to {write_signed(change.high)})"
    )
    if findings.shares:
        print_table(_build_row(share) for share in findings.shares)
    say(findings.verdict)
    if findings.n_calls:
        say(f"{write_count(findings.n_calls, 're-run')}; the full factorial has {findings.n_full}.")
    for remark in findings.remarks:
        say(f"Note: {remark}.")
    if findings.stopped:
        say(f"Stopped early: {findings.stopped}. The same command goes on; re-runs are kept.")


def _build_row(share: Share) -> dict[str, str]:
    estimate = share.estimate
    return {
        "Cause": share.name if share.is_cause else f"({share.name})",
        ">Share": write_signed(estimate.value),
        ">95 % CI": f"{write_signed(estimate.low)} to {write_signed(estimate.high)}",
        "Verdict": "cause" if share.is_cause else "not shown",
        "By": share.basis,
    }

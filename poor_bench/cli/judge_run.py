"""`judge run`: talk to an agent, have it judged, store and show the result."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.judge_options import (
    html_option,
    judge_names,
    judge_options,
    money_options,
    most_text,
)
from poor_bench.cli.output import harmless, json_option, print_json
from poor_bench.command_line import examples
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.judge.agents.plan import JudgePlan
    from poor_bench.judge.agents.prepare import JudgeRequest
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.history.summary import RunSummary

_EPILOG = examples(
    """
  {program} judge run support_desk --judge ollama:qwen3:8b
  {program} judge run support_desk --judge ollama:qwen3:8b --repeat 5
  {program} judge run support_desk --panel gpt-a --panel claude-b --decision majority
  {program} judge run support_desk --conversations last --judge claude-opus-4-20250514
  {program} judge run support_desk --dry-run            plan and cost
  {program} judge run support_desk --max-cost 0.50
  {program} judge run support_desk --gate --html report.html

\b
Exit codes:
  0  judged         1  not approved or a rule broken, with --gate
  2  configuration  3  a conversation or judgement failed
"""
)


@click.command(epilog=_EPILOG)
@click.argument("agent_id", metavar="AGENT")
@judge_options
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Number of judgements by each judge; measures its noise.",
)
@click.option(
    "--decision",
    type=click.Choice(["mean", "median", "majority"]),
    default="mean",
    show_default=True,
    help="How several judges are combined.",
)
@click.option(
    "--case", "case_ids", multiple=True, metavar="ID", help="Run only this case; repeatable."
)
@click.option(
    "--conversations",
    "earlier",
    metavar="RUN",
    help="Judge the conversations of an earlier run again.",
)
@money_options
@click.option(
    "--gate", is_flag=True, help="Exit with 1 if the agent is not approved or a case broke a rule."
)
@html_option
@json_option
@pass_app
def run(
    app: AppContext,
    /,
    agent_id: str,
    max_cost: float | None,
    dry_run: bool,
    gate: bool,
    html: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Talk to AGENT, have the conversations judged, store and show everything."""
    from poor_bench.cli.judge_progress import judge_progress
    from poor_bench.cli.judge_view import show_summary
    from poor_bench.judge.history.summary import summarise_run
    from poor_bench.judge_runner import JudgeRunner

    limit = math.inf if max_cost is None else max_cost
    runner = JudgeRunner(app.data_dir, max_cost_usd=limit)
    with closing(runner):
        plan = runner.plan(_request(agent_id, runner.store, options))
        for note in plan.notes:
            click.echo(harmless(f"Warning: {note}"), err=True)
        if dry_run:
            return _tell_plan(plan, as_json=as_json)
        if not as_json:
            _tell_cost(plan)
        with judge_progress(plan, quiet=as_json) as listener:
            summary = summarise_run(runner.run(plan, listener))
    show_summary(summary, as_json=as_json, html=html)
    if runner.budget.n_refused:
        from poor_bench.reports.number_text import cost_text

        text = f"{runner.budget.n_refused} conversations and judgements might have exceeded"
        click.echo(f"{text} --max-cost {cost_text(max_cost)} and were skipped.", err=True)
    return _exit_code(summary, gate=gate)


def _request(agent_id: str, store: JudgementStore, options: dict[str, Any]) -> JudgeRequest:
    from poor_bench.judge.agents.prepare import JudgeRequest
    from poor_bench.judge.panel.panel import Decision

    earlier = options["earlier"]
    return JudgeRequest(
        agent_id=agent_id,
        case_ids=options["case_ids"],
        judges=judge_names(options["judge"], options["panel"]),
        repeat=options["repeat"],
        decision=Decision(options["decision"]),
        conversations_of=store.find(earlier) if earlier else None,
    )


def _tell_plan(plan: JudgePlan, *, as_json: bool) -> int:
    from poor_bench.judge.agents.cost_estimate import plan_usd

    planned: dict[str, Any] = {
        "conversations": plan.n_conversations,
        "judgements": plan.n_judgements,
        "judges": [judge.id for judge in plan.judges],
        "most_usd": plan_usd(plan),
    }
    if as_json:
        print_json(planned)
        return 0
    click.echo(f"{counted(plan.n_conversations, 'conversation')} with {plan.agent.llm_id}")
    click.echo(f"{counted(plan.n_judgements, 'judgement')} by {', '.join(planned['judges'])}")
    click.echo(most_text(planned["most_usd"]))
    return 0


def _tell_cost(plan: JudgePlan) -> None:
    from poor_bench.judge.agents.cost_estimate import plan_usd

    most_usd = plan_usd(plan)
    if most_usd:
        click.echo(f"Cost: {most_text(most_usd)}", err=True)


def _exit_code(summary: RunSummary, *, gate: bool) -> int:
    if not summary.run.is_complete or summary.panel.n_fallbacks:
        return 3
    return 1 if gate and not summary.is_approved else 0

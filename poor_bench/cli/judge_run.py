"""`judge run`: talk to an agent, have it judged, store and show the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    beside_option,
    cost_options,
    count_option,
    format_highest_cost,
    html_option,
    judge_options,
    resume_option,
)
from poor_bench.cli.output import json_option, print_json, print_plan_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.judge.agent_run import JudgeRunner
    from poor_bench.judge.judged_run import AgentEvent, CaseSummary, RunSummary
    from poor_bench.judge.run_plan import JudgePlan, JudgeRequest
    from poor_bench.judge.storage import JudgementStore
    from poor_bench.runs.history import RunHistory


_EPILOG = write_examples(
    """
  {program} judge run support_desk --judge ollama:qwen3:8b
  {program} judge run support_desk --judge ollama:qwen3:8b --repeat 5
  {program} judge run support_desk --panel gpt-a --panel claude-b --decision majority
  {program} judge run support_desk --conversations last --judge claude-opus-4-20250514
  {program} judge run support_desk --dry-run            plan and cost
  {program} judge run support_desk --max-cost 0.50
  {program} judge run support_desk --resume last        finish an interrupted run
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
@count_option("--repeat", most=100, hint="Number of judgements by each judge; measures its noise.")
@click.option(
    "--decision",
    type=click.Choice(["mean", "median", "majority"]),
    default="mean",
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
@cost_options
@resume_option
@beside_option
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
    beside: bool,
    gate: bool,
    html: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Talk to AGENT, have the conversations judged, store and show everything.

    With --resume, continue a stored run: what is missing or failed is run.
    """
    from poor_bench.judge.agent_run import JudgeRunner
    from poor_bench.judge.judged_run import summarise_run
    from poor_bench.runs.turn import run_alone

    limit = math.inf if max_cost is None else max_cost
    runner = JudgeRunner(app.data_dir, max_cost_usd=limit)
    with closing(runner):
        plan = _plan(runner, agent_id, options)
        for note in plan.notes:
            say(f"Warning: {note}", err=True)
        for problem in plan.skipped:
            say(f"Skipped: {problem}", err=True)
        if dry_run:
            return _tell_plan(plan, runner.estimate_usd(plan), as_json=as_json)
        if not as_json:
            _tell_cost(runner.estimate_usd(plan))
        turn = run_alone(runner.store.history, {"agent_id": plan.agent.id}, beside=beside)
        with turn, show_judge_progress(plan, quiet=as_json) as listener:
            summary = summarise_run(runner.run(plan, listener))
    show_summary(summary, runner.store.history, as_json=as_json, html=html)
    if runner.budget.n_refused:
        from poor_bench.metrics import cost_text

        steps = write_count(runner.budget.n_refused, "step")
        text = f"Parts of the run ({steps}) might have exceeded --max-cost {cost_text(max_cost)}"
        resume = next_command(f"judge run {agent_id} --resume {summary.run.run_id}")
        click.echo(f"{text} and were skipped. To continue with a larger limit: {resume}", err=True)
    return _choose_exit_code(summary, gate=gate) or (2 if plan.skipped else 0)


def _plan(runner: JudgeRunner, agent_id: str, options: dict[str, Any]) -> JudgePlan:
    if options["resume"]:
        _tell_ignored(options)
        return runner.plan_resume(options["resume"], agent_id)
    return runner.plan(_build_request(agent_id, runner.store, options))


def _tell_ignored(options: dict[str, Any]) -> None:
    names = {"judge": "--judge", "panel": "--panel", "case_ids": "--case"}
    given = [option for name, option in names.items() if options[name]]
    if given:
        which = " and ".join(given)
        say(f"Ignored: {which}. With --resume, those of the stored run count.", err=True)


def _build_request(agent_id: str, store: JudgementStore, options: dict[str, Any]) -> JudgeRequest:
    from poor_bench.judge.panel import PanelDecision
    from poor_bench.judge.run_plan import JudgeRequest

    earlier = options["earlier"]
    return JudgeRequest(
        agent_id=agent_id,
        case_ids=options["case_ids"],
        judges=tuple(filter(None, (options["judge"], *options["panel"]))),
        repeat=options["repeat"],
        decision=PanelDecision(options["decision"]),
        conversations_of=store.find(earlier) if earlier else None,
    )


def _tell_plan(plan: JudgePlan, most_usd: float | None, *, as_json: bool) -> int:
    planned: dict[str, Any] = {
        "conversations": plan.n_conversations,
        "judgements": plan.n_judgements,
        "judges": [judge.id for judge in plan.judges],
        "most_usd": most_usd,
    }
    if as_json:
        from poor_bench.judge.storage import JUDGED_RUNS

        n_planned = plan.n_conversations + plan.n_judgements
        about = {"agent_id": plan.agent.id}
        print_plan_json(JUDGED_RUNS, about, planned, n_planned=n_planned, cost_usd=most_usd)
        return 0
    click.echo(f"{write_count(plan.n_conversations, 'conversation')} with {plan.agent.llm_id}")
    click.echo(f"{write_count(plan.n_judgements, 'judgement')} by {', '.join(planned['judges'])}")
    click.echo(format_highest_cost(most_usd))
    return 0


def _tell_cost(most_usd: float | None) -> None:
    if most_usd != 0:
        click.echo(f"Cost: {format_highest_cost(most_usd)}", err=True)


def _choose_exit_code(summary: RunSummary, *, gate: bool) -> int:
    if not summary.run.is_complete or summary.panel.n_fallbacks:
        return 3
    return 1 if gate and not summary.is_approved else 0


@contextmanager
def show_judge_progress(plan: JudgePlan, *, quiet: bool) -> Iterator[Callable[[AgentEvent], None]]:
    """Show the events of a run while it lasts."""
    from poor_bench.cli.screen import open_job_view
    from poor_bench.judge.report_text import describe_event
    from poor_bench.pool.events import ModelLoading

    def show(event: AgentEvent) -> None:
        text = describe_event(event)
        view.tell(text)
        view.move(text, advance=int(not isinstance(event, ModelLoading)))

    with open_job_view(plan.agent.name, plan.n_steps, quiet=quiet) as view:
        yield show


_MOST_TEXTS = 5


def show_summary(
    summary: RunSummary, history: RunHistory, *, as_json: bool, html: Path | None
) -> None:
    """Print a run, and write its report if a file is given.

    Args:
        summary: The run.
        history: Where it is stored.
        as_json: True to print JSON.
        html: File of the report.

    Raises:
        ConfigError: If the file cannot be written.
    """
    if html is not None:
        write_html([summary], html)
    if as_json:
        from poor_bench.judge.report_html import run_to_json
        from poor_bench.runs.history import run_to_json as describe_run

        run = summary.run
        shared = describe_run(history, run.run_id, n_failed=run.n_failed, cost_usd=run.cost_usd)
        print_json({"run": shared, **run_to_json(summary, with_parts=True)})
        return
    print_summary(summary)
    if html is not None:
        click.echo(f"Report: {html}")


def write_html(summaries: Sequence[RunSummary], path: Path) -> None:
    """Write the report of some runs.

    Raises:
        ConfigError: If the file cannot be written.
    """
    from poor_bench.config.document import write_atomically
    from poor_bench.judge.report_html import runs_to_html

    write_atomically(path, runs_to_html(summaries, datetime.now(UTC).isoformat()))


def print_summary(summary: RunSummary) -> None:
    """Print scores, feedback and verdict of a run."""
    from poor_bench.judge.report_text import list_run_notes, run_cost_text, write_verdict

    header = summary.run.header
    say(f"{header.agent} ({header.llm_id}), run {header.run_id}")
    if summary.panel.scores:
        print_table(_build_dimension_rows(summary))
    for case in summary.cases:
        for line in _describe_case(case):
            say(line)
    for line in _describe_overall(summary):
        say(line)
    click.echo()
    for note in list_run_notes(summary):
        say(note)
    cost = run_cost_text(summary.run)
    say(write_verdict(summary) + (f"  ({cost})" if cost else ""))


def _build_dimension_rows(summary: RunSummary) -> Iterator[dict[str, str]]:
    from poor_bench.judge.report_text import spread_text

    panel = summary.panel
    has_several = len(panel.voters) > 1
    for name, score in panel.scores.items():
        weight = summary.run.header.weights.get(name, 0.0)
        row = {"Dimension": name, ">Weight": f"{weight:g} %", ">Score": f"{score:.2f}"}
        for member in panel.voters:
            spread = member.dimensions[name]
            mean = f"{spread.mean:.2f}  " if has_several else ""
            row[member.judge if has_several else "Spread"] = f"{mean}{spread_text(spread)}".rstrip()
        yield row


def _describe_case(case: CaseSummary) -> Iterator[str]:
    talk = case.conversation
    score = "n/a" if case.score is None else f"{case.score:.2f}"
    yield f"{talk.case_id}  {score}{'  failed' if talk.passed is False else ''}"
    for rule in talk.broken_rules:
        yield f"  broken rule: {rule}"
    for item in case.feedback:
        yield f"  {item.score:4.1f} {item.judge}: {' '.join(item.text.split())}"


def _describe_overall(summary: RunSummary) -> Iterator[str]:
    for heading in ("weaknesses", "recommendations"):
        texts = [text for item in summary.run.usable_judgements for text in getattr(item, heading)]
        unique = list(dict.fromkeys(" ".join(text.split()) for text in texts))
        if unique:
            yield f"{heading}:"
        yield from (f"  - {text}" for text in unique[:_MOST_TEXTS])

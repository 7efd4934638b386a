"""`judge`: agents, judged runs, and their reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.judge_labels import agreement, labels
from poor_bench.cli.judge_pairwise import pairwise
from poor_bench.cli.judge_run import run, show_summary, write_html
from poor_bench.cli.options import HTML_FILE
from poor_bench.cli.output import (
    json_option,
    print_columns,
    print_json,
    print_problems,
    print_table,
    say,
)
from poor_bench.command_line import next_command, write_examples
from poor_bench.judge.registry import load_agent_registry, read_rubric
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.judge.judged_run import RunSummary
    from poor_bench.judge.run_comparison import JudgedChange, RunComparison


_EPILOG = write_examples(
    """
  {program} judge agents                     the agents of the workspace
  {program} judge run support_desk --judge ollama:qwen3:8b
  {program} judge run support_desk --judge ollama:qwen3:8b --repeat 5
  {program} judge list                       judged runs
  {program} judge show last
  {program} judge report last --html report.html
  {program} judge compare 20261122T0315 last
  {program} judge pairwise 20261122T0315 last
  {program} judge pairwise                   pairwise comparisons so far
  {program} judge labels next > sheet.csv    score conversations yourself
  {program} judge agreement                  agreement of judges with people
"""
)


_AGENTS_EXAMPLES = write_examples(
    """
  {program} judge agents
  {program} judge agents --json
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Have models judge agents, and measure how reliable the judges are.

    Agents are defined in agents/*.yaml of the workspace. Conversations and judgements are stored in
    its folder judgements/.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_runs, agent_id=None)
    return 0


_LIST_EXAMPLES = write_examples(
    """
  {program} judge list
  {program} judge list support_desk --json
"""
)


@command.command(epilog=_AGENTS_EXAMPLES)
@json_option
@pass_app
def agents(app: AppContext, /, as_json: bool) -> int:
    """List the agents of the workspace, and check their files."""
    registry = load_agent_registry(app.data_dir)
    rows: list[dict[str, Any]] = [
        {
            "agent_id": agent.id,
            "name": agent.name,
            "llm_id": agent.llm_id,
            "n_cases": len(agent.cases),
            "rubric": read_rubric(agent)[0].name,
            "dimensions": list(read_rubric(agent)[0].names),
        }
        for agent in registry.agents.values()
    ]
    if as_json:
        print_json({"agents": rows, "problems": registry.problems})
        return 2 if registry.broken else 0
    print_problems(registry.problems, limit=50)
    fields = {"Agent": "agent_id", "Name": "name", "Model": "llm_id", ">Cases": "n_cases"}
    print_columns(rows, fields | {"Dimensions": "dimensions"})
    click.echo(f"{write_count(len(rows), 'agent')} in {app.data_dir / 'agents'}")
    return 2 if registry.broken else 0


@command.command("list", epilog=_LIST_EXAMPLES)
@click.argument("agent_id", metavar="[AGENT]", required=False)
@json_option
@pass_app
def list_runs(app: AppContext, /, agent_id: str | None, as_json: bool = False) -> int:
    """List judged runs, newest last."""
    from poor_bench.judge.judged_run import summarise_run

    store = app.judgements
    summaries = [summarise_run(run) for run in store.runs(agent_id)]
    if as_json:
        from poor_bench.judge.report_html import run_to_json

        print_json({"runs": [run_to_json(summary) for summary in summaries]})
        return 0
    if not summaries:
        of = f" of {agent_id}" if agent_id else ""
        step = next_command(f"judge run {agent_id or 'AGENT'}")
        say(f"No judged runs{of} yet. Next: {step}")
        return 0
    print_table(
        _build_row(item, is_running=store.is_under_way(item.run.run_id)) for item in summaries
    )
    return 0


def _build_row(summary: RunSummary, *, is_running: bool) -> dict[str, str]:
    from poor_bench.metrics import cost_text

    header = summary.run.header
    score = summary.panel.overall_score
    return {
        "Run": header.run_id,
        "Agent": header.agent_id,
        "Model": header.llm_id,
        "Judges": ", ".join(header.judges) + (f" x{header.repeat}" if header.repeat > 1 else ""),
        ">Cases": str(len(summary.run.conversations)),
        ">Score": "n/a" if score is None else f"{score:.2f}",
        "": "running" if is_running else _describe_state(summary),
        ">Cost": cost_text(summary.run.cost_usd) or "n/a",
    }


def _describe_state(summary: RunSummary) -> str:
    if not summary.run.is_complete:
        return "incomplete"
    return "approved" if summary.is_approved else "not approved"


_SHOW_EXAMPLES = write_examples(
    """
  {program} judge show last
  {program} judge show support_desk          newest run of an agent
  {program} judge show 20261122T0315 --turns
"""
)
_REPORT_EPILOG = write_examples(
    """
  {program} judge report last --html report.html
  {program} judge report sales_qualification support_desk --html both.html
"""
)


@command.command(epilog=_SHOW_EXAMPLES)
@click.argument("reference", metavar="RUN", default="last")
@click.option("--turns", is_flag=True, help="Also print the conversations.")
@json_option
@pass_app
def show(app: AppContext, /, reference: str, turns: bool, as_json: bool) -> int:
    """Show a run.

    RUN is `last`, an agent, or the start of a run's id.
    """
    from poor_bench.judge.storage import JudgementStore

    summary = find_summary(app, reference)
    if turns and not as_json:
        _print_turns(summary)
    show_summary(summary, JudgementStore(app.data_dir).history, as_json=as_json, html=None)
    return 0


@command.command(epilog=_REPORT_EPILOG)
@click.argument("references", metavar="RUN...", nargs=-1, required=True)
@click.option("--html", type=HTML_FILE, required=True, help="Write the report to this file.")
@pass_app
def report(app: AppContext, /, references: tuple[str, ...], html: Path) -> int:
    """Write one or several runs to a self-contained HTML file."""
    write_html([find_summary(app, reference) for reference in references], html)
    click.echo(f"Wrote {html}")
    return 0


def find_summary(app: AppContext, reference: str) -> RunSummary:
    """Summarise the run that a reference names.

    Raises:
        ConfigError: If it matches no run, or several.
    """
    from poor_bench.judge.judged_run import summarise_run

    return summarise_run(app.judgements.find(reference))


def _print_turns(summary: RunSummary) -> None:
    for talk in summary.run.conversations:
        say(f"--- {talk.case_id}")
        for turn in talk.turns:
            say(f"[{turn.speaker}] {turn.text}")
    click.echo()


_COMPARE_EXAMPLES = write_examples(
    """
  {program} judge compare 20261122T0315 last
  {program} judge compare sales_old sales_new      newest run of each agent
"""
)


@command.command(epilog=_COMPARE_EXAMPLES)
@click.argument("before")
@click.argument("after")
@json_option
@pass_app
def compare(app: AppContext, /, before: str, after: str, as_json: bool) -> int:
    """Compare two runs and mark differences within the judges' noise."""
    from poor_bench.judge.run_comparison import compare_runs

    history = app.judgements.runs()
    comparison = compare_runs(find_summary(app, before), find_summary(app, after), history)
    if as_json:
        print_json(_to_json(comparison))
    else:
        _print_comparison(comparison)
    return 0


def _print_comparison(comparison: RunComparison) -> None:
    rows = [
        *_build_rows(comparison, comparison.scores),
        *_build_rows(comparison, comparison.cases, "case "),
    ]
    if comparison.scores:
        print_table(rows)
    for obstacle in comparison.obstacles:
        say(f"Not comparable: {obstacle}")
    for side in (comparison.before, comparison.after):
        header = side.run.header
        say(f"{header.run_id}: {header.agent_id}, {header.llm_id}")


def _build_rows(
    comparison: RunComparison, changes: Sequence[JudgedChange], prefix: str = ""
) -> Iterator[dict[str, str]]:
    from poor_bench.judge.report_text import write_change

    for change in changes:
        yield {
            "": f"{prefix}{change.name}",
            ">Before": f"{change.before:.2f}",
            ">After": f"{change.after:.2f}",
            ">Change": f"{change.difference:+.2f}",
            ">Noise": "unknown" if change.floor is None else f"{change.floor:.2f}",
            "Verdict": write_change(comparison, change),
        }


def _to_json(comparison: RunComparison) -> dict[str, Any]:
    def plain(changes: Sequence[JudgedChange]) -> list[dict[str, Any]]:
        return [
            {
                **asdict(change),
                "difference": change.difference,
                "is_noise": change.is_noise,
                "is_comparable": comparison.is_comparable(change),
            }
            for change in changes
        ]

    return {
        "before": comparison.before.run.run_id,
        "after": comparison.after.run.run_id,
        "obstacles": list(comparison.obstacles),
        "scores": plain(comparison.scores),
        "cases": plain(comparison.cases),
    }


for _subcommand in (run, pairwise, labels, agreement):
    command.add_command(_subcommand)

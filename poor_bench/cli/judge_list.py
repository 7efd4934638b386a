"""`judge agents` and `judge list`: agents and judged runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.command_line import examples, next_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.judge.history.summary import RunSummary

_EPILOG = examples(
    """
  {program} judge list
  {program} judge list support_desk --json
"""
)


@click.command()
@json_option
@pass_app
def agents(app: AppContext, /, as_json: bool) -> int:
    """List the agents of the workspace, and check their files."""
    from poor_bench.cli.problem_list import print_problems, problems_to_json
    from poor_bench.judge.agents.load import load_agent_shelf, rubric_of

    shelf = load_agent_shelf(app.data_dir)
    rows: list[dict[str, Any]] = [
        {
            "agent_id": agent.id,
            "name": agent.name,
            "llm_id": agent.llm_id,
            "n_cases": len(agent.cases),
            "rubric": rubric_of(agent)[0].name,
            "dimensions": list(rubric_of(agent)[0].names),
        }
        for agent in shelf.agents.values()
    ]
    if as_json:
        print_json({"agents": rows, "problems": problems_to_json(shelf.problems)})
        return 0
    print_problems(list(shelf.problems), limit=50)
    columns: list[Column] = ["Agent", "Name", "Model", ("Cases", "right"), "Dimensions"]
    cells = [
        [
            row["agent_id"],
            row["name"],
            row["llm_id"],
            str(row["n_cases"]),
            ", ".join(row["dimensions"]),
        ]
        for row in rows
    ]
    console().print(plain_table(columns, cells))
    click.echo(f"{counted(len(rows), 'agent')} in {app.data_dir / 'agents'}")
    return 0


@click.command("list", epilog=_EPILOG)
@click.argument("agent_id", metavar="[AGENT]", required=False)
@json_option
@pass_app
def list_runs(app: AppContext, /, agent_id: str | None, as_json: bool = False) -> int:
    """List judged runs, newest last."""
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.history.summary import summarise_run

    store = JudgementStore(app.data_dir)
    summaries = [summarise_run(run) for run in store.runs(agent_id)]
    if as_json:
        from poor_bench.judge.report.as_json import run_to_json

        print_json({"runs": [run_to_json(summary) for summary in summaries]})
        return 0
    if not summaries:
        click.echo(f"No judged runs yet. Next: {next_command('judge run AGENT')}")
        return 0
    columns: list[Column] = ["Run", "Agent", "Model", "Judges", ("Cases", "right")]
    columns += [("Score", "right"), "", ("Cost", "right")]
    rows = [_row(item, is_running=store.is_under_way(item.run.run_id)) for item in summaries]
    console().print(plain_table(columns, rows))
    return 0


def _row(summary: RunSummary, *, is_running: bool) -> list[str]:
    from poor_bench.reports.number_text import cost_text

    header = summary.run.header
    score = summary.panel.overall_score
    return [
        header.run_id,
        header.agent_id,
        header.llm_id,
        ", ".join(header.judges) + (f" x{header.repeat}" if header.repeat > 1 else ""),
        str(len(summary.run.conversations)),
        "" if score is None else f"{score:.2f}",
        "running" if is_running else _state(summary),
        cost_text(summary.run.cost_usd),
    ]


def _state(summary: RunSummary) -> str:
    if not summary.run.is_complete:
        return "incomplete"
    return "approved" if summary.is_approved else "not approved"

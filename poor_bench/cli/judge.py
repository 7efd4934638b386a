"""`judge`: have models judge agents, and measure how reliable the judges are."""

from __future__ import annotations

import click

from poor_bench.cli.judge_agreement import agreement
from poor_bench.cli.judge_compare import compare
from poor_bench.cli.judge_labels import labels
from poor_bench.cli.judge_list import agents, list_runs
from poor_bench.cli.judge_pairwise import pairwise
from poor_bench.cli.judge_run import run
from poor_bench.cli.judge_show import report, show
from poor_bench.command_line import examples

_EPILOG = examples(
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
  {program} judge labels export > sheet.csv  score conversations yourself
  {program} judge agreement                  agreement of judges with people
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


for subcommand in (agents, run, list_runs, show, report, compare, pairwise, labels, agreement):
    command.add_command(subcommand)

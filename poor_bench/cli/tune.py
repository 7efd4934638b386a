"""`tune`: list, show and accept searches for better prompts and parameters."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import print_search_json
from poor_bench.cli.output import json_option, print_columns, print_json
from poor_bench.cli.tune_params import print_sweep_report, tune_params
from poor_bench.cli.tune_prompt import print_prompt_report, tune_prompt
from poor_bench.command_line import next_command, write_examples

if TYPE_CHECKING:
    from poor_bench.tuning.prompt.report import PromptReport
    from poor_bench.tuning.searches import KeptSearch
    from poor_bench.tuning.sweep_ranking import ParamsReport


_EPILOG = write_examples(
    """
  {program} tune prompt math_problems --llm ollama:gemma3:1b --reflection-llm openai:gpt-5
  {program} tune params all --llm ollama:gemma3:1b --param temperature=0,0.4,0.8
  {program} tune list                        searches so far
  {program} tune show last                   result of the newest search
  {program} tune accept last                 write its result to the workspace
"""
)


_SHOW_EXAMPLES = write_examples(
    """
  {program} tune list
  {program} tune show last
  {program} tune show 20261122T0250 --json
"""
)


@click.group(epilog=_EPILOG)
def command() -> None:
    """Find a better prompt or better parameters, and test whether the gain is significant.

    Your files change only when you accept a result.
    """


@command.command("list", epilog=_SHOW_EXAMPLES)
@json_option
@pass_app
def list_searches(app: AppContext, /, as_json: bool) -> int:
    """List the searches of the workspace, newest last."""
    from poor_bench.tuning.searches import list_searches

    rows = [_build_row(search) for search in list_searches(app.data_dir)]
    if as_json:
        print_json({"searches": rows})
    elif not rows:
        click.echo(f"No searches yet. Next: {next_command('tune prompt CLASS --llm ID')}")
    else:
        fields = {"Search": "run_id", "Kind": "kind", "What": "what", "Model": "llm"}
        print_columns(rows, fields | {"State": "state", "Accepted": "accepted"})
    return 0


@command.command(epilog=_SHOW_EXAMPLES)
@click.argument("run", metavar="RUN")
@json_option
@pass_app
def show(app: AppContext, /, run: str, as_json: bool) -> int:
    """Show the result of a search.

    RUN is its id, the start of it, or `last`.
    """
    from poor_bench.tuning.searches import find_search

    search = find_search(app.data_dir, run)
    if as_json:
        print_search_json(read_search_report(search), app.data_dir)
    else:
        print_search(search)
    return 0


def print_search(search: KeptSearch) -> None:
    """Print the result of a search."""
    from poor_bench.tuning.sweep_ranking import ParamsReport

    report = read_search_report(search)
    if isinstance(report, ParamsReport):
        print_sweep_report(report)
    else:
        print_prompt_report(report)


def read_search_report(search: KeptSearch) -> ParamsReport | PromptReport:
    """Read what a search came to."""
    from poor_bench.tuning.prompt.report import read_report
    from poor_bench.tuning.sweep_ranking import read_sweep

    return read_sweep(search) if search.kind == "params" else read_report(search)


def _build_row(search: KeptSearch) -> dict[str, Any]:
    end, accepted = search.last("end"), search.last("accepted")
    return {
        "run_id": search.run_id,
        "kind": search.kind,
        "what": search.header.get("name"),
        "llm": search.header.get("llm"),
        "ended": end["reason"] if end else None,
        "state": "running" if search.is_running else end["reason"] if end else "interrupted",
        "accepted": accepted["key"] if accepted else None,
    }


_ACCEPT_EXAMPLES = write_examples(
    """
  {program} tune accept last                 best result of the newest search
  {program} tune accept 20261122T0250 4f1c   another of its prompts
"""
)


@command.command(epilog=_ACCEPT_EXAMPLES)
@click.argument("run", metavar="RUN")
@click.argument("choice", required=False, default="")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--force", is_flag=True, help="Write the prompt even if it was edited since the search."
)
@json_option
@pass_app
def accept(app: AppContext, /, run: str, choice: str, yes: bool, force: bool, as_json: bool) -> int:
    """Write the result of a search to the workspace.

    RUN is the id of a search, its start, or `last`. CHOICE is one of its results; the best by
    default. A prompt is written to test_classes.yaml or the agent's file; comments are kept. A
    variant of a model becomes an entry of llms.json and keeps its results.
    """
    from poor_bench.tuning.accepting import accept_result
    from poor_bench.tuning.searches import find_search

    search = find_search(app.data_dir, run)
    if not yes:
        _ask(search)
    accepted = accept_result(app.config, search.run_id, choice, force=force)
    if as_json:
        print_json({"run_id": search.run_id, "accepted": accepted})
    else:
        click.echo(f"Written: {accepted}. Next: {next_command(_suggest_command(search))}")
    return 0


def _suggest_command(search: KeptSearch) -> str:
    """Build the command that uses the accepted result."""
    subject = search.header.get("subject", {})
    return f"judge run {subject['agent_id']}" if "agent_id" in subject else "run"


def _ask(search: KeptSearch) -> None:
    """Show the measured gain and ask for confirmation.

    Raises:
        click.UsageError: If the input is not a terminal.
        click.Abort: If the user says no.
    """
    if not sys.stdin.isatty():
        raise click.UsageError("cannot ask for confirmation without a terminal: add --yes")
    print_search(search)
    click.confirm("Write it?", abort=True)


for _subcommand in (tune_prompt, tune_params):
    command.add_command(_subcommand)

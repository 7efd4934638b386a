"""`tune accept`: write the result of a search to the workspace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.command_line import examples, next_command

if TYPE_CHECKING:
    from poor_bench.tuning.kept_searches import KeptSearch

_EPILOG = examples(
    """
  {program} tune accept last                 best result of the newest search
  {program} tune accept 20261122T0250 4f1c   another of its prompts
"""
)


@click.command(epilog=_EPILOG)
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
    from poor_bench.tuning.accepting import accept_prompt, accept_variant
    from poor_bench.tuning.kept_searches import find_search

    search = find_search(app.data_dir, run)
    if not yes:
        _ask(search)
    if search.kind == "params":
        accepted = accept_variant(app.config, search.run_id, choice).accepted
    else:
        accepted = accept_prompt(app.config, search.run_id, choice, force=force).accepted
    if as_json:
        print_json({"run_id": search.run_id, "accepted": accepted})
    else:
        click.echo(f"Written: {accepted}. Next: {next_command(_command(search))}")
    return 0


def _command(search: KeptSearch) -> str:
    """Build the command that uses the accepted result."""
    subject = search.header.get("subject", {})
    return f"judge run {subject['agent_id']}" if "agent_id" in subject else "run"


def _ask(search: KeptSearch) -> None:
    """Show the measured gain and ask for confirmation.

    Raises:
        click.UsageError: If the input is not a terminal.
        click.Abort: If the user says no.
    """
    from poor_bench.cli.tune_kept import print_search

    if not sys.stdin.isatty():
        raise click.UsageError("cannot ask for confirmation without a terminal: add --yes")
    print_search(search)
    click.confirm("Write it?", abort=True)

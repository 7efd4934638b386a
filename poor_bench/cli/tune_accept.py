"""`tune accept`: write what a search found into the workspace."""

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
  {program} tune accept last                 the best of the newest search
  {program} tune accept 20261122T0250 4f1c   another of its prompts
"""
)


@click.command(epilog=_EPILOG)
@click.argument("run", metavar="RUN")
@click.argument("choice", required=False, default="")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Write it even if the prompt changed since.")
@json_option
@pass_app
def accept(app: AppContext, /, run: str, choice: str, yes: bool, force: bool, as_json: bool) -> int:
    """Write what a search found into the workspace.

    RUN is the id of a search, its beginning, or `last`; CHOICE one of what it found, the best by
    default. A prompt goes into test_classes.yaml or the agent's file, whose comments survive; a
    variant of an LLM becomes an entry of llms.json, and its results so far are its own.
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
        click.echo(f"Written: {accepted}. `{next_command(_command(search))}` uses it.")
    return 0


def _command(search: KeptSearch) -> str:
    """Return what asks with what was accepted."""
    subject = search.header.get("subject", {})
    return f"judge run {subject['agent_id']}" if "agent_id" in subject else "run"


def _ask(search: KeptSearch) -> None:
    """Show what is known of the gain, and let the user decide.

    Raises:
        click.UsageError: If nobody can be asked.
        click.Abort: If the user says no.
    """
    from poor_bench.cli.tune_kept import print_search

    if not sys.stdin.isatty():
        raise click.UsageError("there is nobody to ask: add --yes")
    print_search(search)
    click.confirm("Write it?", abort=True)

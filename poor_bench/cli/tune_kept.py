"""`tune list` and `tune show`: stored searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import Column, console, json_option, plain_table, print_json
from poor_bench.command_line import next_command

if TYPE_CHECKING:
    from poor_bench.tuning.kept_searches import KeptSearch


@click.command("list")
@json_option
@pass_app
def list_searches(app: AppContext, /, as_json: bool) -> int:
    """List the searches of the workspace, newest last."""
    from poor_bench.tuning.kept_searches import kept_searches

    rows = [_row(search) for search in kept_searches(app.data_dir)]
    if as_json:
        print_json({"searches": rows})
    elif not rows:
        click.echo(f"No searches yet. Next: {next_command('tune prompt CLASS --llm ID')}")
    else:
        columns: list[Column] = ["Search", "Kind", "What", "LLM", "Ended", "Accepted"]
        cells = [[str(value or "") for value in row.values()] for row in rows]
        console().print(plain_table(columns, cells))
    return 0


@click.command()
@click.argument("run", metavar="RUN")
@json_option
@pass_app
def show(app: AppContext, /, run: str, as_json: bool) -> int:
    """Show the result of a search.

    RUN is its id, the start of it, or `last`.
    """
    from poor_bench.tuning.kept_searches import find_search

    search = find_search(app.data_dir, run)
    if as_json:
        print_json(search_to_json(search))
    else:
        print_search(search)
    return 0


def print_search(search: KeptSearch) -> None:
    """Print the result of a search."""
    from poor_bench.cli import tune_params_view, tune_prompt_view
    from poor_bench.tuning.params.report import kept_report as kept_sweep
    from poor_bench.tuning.prompt.report import kept_report

    if search.kind == "params":
        tune_params_view.print_report(kept_sweep(search))
    else:
        tune_prompt_view.print_report(kept_report(search))


def search_to_json(search: KeptSearch) -> dict[str, Any]:
    """Build the JSON output of a search."""
    from poor_bench.tuning.params.report import kept_report as kept_sweep
    from poor_bench.tuning.prompt.report import kept_report

    report = kept_sweep(search) if search.kind == "params" else kept_report(search)
    return report.as_json()


def _row(search: KeptSearch) -> dict[str, Any]:
    end, accepted = search.last("end"), search.last("accepted")
    return {
        "run_id": search.run_id,
        "kind": search.kind,
        "what": search.header.get("name"),
        "llm": search.header.get("llm"),
        "ended": end["reason"] if end else None,
        "accepted": accepted["key"] if accepted else None,
    }

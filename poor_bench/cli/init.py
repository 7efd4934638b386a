"""`init`: make a new workspace with commented examples."""

from __future__ import annotations

from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.command_line import examples, next_command, use_workspace

_EPILOG = examples(
    """
  {program} init my_bench
  {program} --data my_bench run
"""
)


@click.command(epilog=_EPILOG)
@click.argument(
    "folder", required=False, type=click.Path(path_type=Path, file_okay=False), metavar="[DIR]"
)
@json_option
@pass_app
def command(app: AppContext, /, folder: Path | None, as_json: bool) -> int:
    """Create a workspace in DIR. Default: the folder of --data.

    It has commented examples of test classes, tests and models, ready to run. Existing files are
    not overwritten.
    """
    from poor_bench.config.new_workspace import create_workspace

    target = folder or app.data_dir
    written = create_workspace(target)
    if as_json:
        print_json({"workspace": str(target), "files": [str(path) for path in written]})
        return 0
    for path in written:
        click.echo(f"  {path}")
    click.echo(_suggest_next_steps(target))
    return 0


def _suggest_next_steps(folder: Path) -> str:
    use_workspace(folder)
    return (
        f"\nNext:\n"
        f"  {next_command('run')}        run the examples on the embedded model\n"
        f"  edit {folder / 'tests.json'} and {folder / 'llms.json'}\n"
        f"  {next_command('validate')}   check your changes"
    )

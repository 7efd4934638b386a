"""`init`: make a new workspace with commented examples."""

from __future__ import annotations

from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json

_EPILOG = """\b
Examples:
  python main.py init my_bench
  python main.py --data my_bench run
"""


@click.command(epilog=_EPILOG)
@click.argument(
    "folder", required=False, type=click.Path(path_type=Path, file_okay=False), metavar="[DIR]"
)
@json_option
@pass_app
def command(app: AppContext, /, folder: Path | None, as_json: bool) -> int:
    """Make a new workspace in DIR, by default the one that --data names.

    It holds commented examples of test classes, tests and LLMs that can be run at once. Nothing
    that exists is overwritten.
    """
    from poor_bench.config.new_workspace import create_workspace

    target = folder or app.data_dir
    written = create_workspace(target)
    if as_json:
        print_json({"workspace": str(target), "files": [str(path) for path in written]})
        return 0
    for path in written:
        click.echo(f"  {path}")
    click.echo(_next_steps(target))
    return 0


def _next_steps(folder: Path) -> str:
    return (
        f"\nNext:\n"
        f"  python main.py --data {folder} run        run the examples on the embedded LLM\n"
        f"  edit {folder / 'tests.json'} and {folder / 'llms.json'}\n"
        f"  python main.py --data {folder} validate   check what you wrote"
    )

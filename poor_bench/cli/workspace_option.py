"""`--data DIR` after a command, which means the same as before it."""

from __future__ import annotations

from pathlib import Path

import click

from poor_bench.cli.context import AppContext
from poor_bench.command_line import use_workspace

FOLDER = click.Path(path_type=Path, file_okay=False)
DEFAULT_FOLDER = Path("data")


def accept_workspace(command: click.Command) -> None:
    """Give `--data` to a command, and to all commands of a group."""
    if not any("--data" in parameter.opts for parameter in command.params):
        command.params.append(_option())
    if isinstance(command, click.Group):
        for each in command.commands.values():
            accept_workspace(each)


def _option() -> click.Option:
    return click.Option(
        ["--data", "data_dir"],
        type=FOLDER,
        metavar="DIR",
        expose_value=False,
        is_eager=True,
        callback=_take,
        help="Workspace folder.",
    )


def _take(context: click.Context, _: click.Parameter, folder: Path | None) -> None:
    """Use a folder instead of the default one.

    Raises:
        click.UsageError: If another folder was given before.
    """
    app = context.find_object(AppContext)
    if folder is None or app is None:
        return
    if app.is_given and folder.resolve() != app.data_dir.resolve():
        message = f"--data names two workspaces: {app.data_dir} and {folder}"
        raise click.UsageError(message, context)
    app.data_dir, app.is_given = folder, True
    use_workspace(folder)

"""`init`: make a new workspace with commented examples."""

from __future__ import annotations

from pathlib import Path

import click

import poor_bench
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.command_line import (
    find_program,
    next_command,
    quote_word,
    use_workspace,
    write_examples,
)
from poor_bench.errors import ConfigError

_EPILOG = write_examples(
    """
  {program} init my_bench
  {program} --data my_bench run
"""
)


_EXAMPLES = Path(poor_bench.__file__).parent / "config" / "example_workspace"
_SCHEMAS = "schemas"


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


def create_workspace(folder: Path) -> list[Path]:
    """Write an example workspace into `folder`, which is made where it does not exist.

    Returns:
        The files that were written, schemas for editors among them.

    Raises:
        ConfigError: If a file of that name is there already, or cannot be written; nothing is
            left half done.
    """
    from poor_bench.config.json_schemas import write_json_schemas

    contents = {
        path.relative_to(_EXAMPLES): _add_commands(path.read_text(encoding="utf-8"), folder)
        for path in sorted(_EXAMPLES.rglob("*"))
        if path.is_file()
    }
    schemas = write_json_schemas()
    contents |= {Path(_SCHEMAS, name): text for name, text in schemas.items()}
    _require_absent([folder / name for name in contents], folder)
    return _write_new({folder / name: text for name, text in contents.items()})


def _add_commands(text: str, folder: Path) -> str:
    """Write commands into an example as they can be typed in the user's shell."""
    return text.replace("python main.py", find_program()).replace("THIS_FOLDER", quote_word(folder))


def _require_absent(paths: list[Path], folder: Path) -> None:
    present = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if present:
        raise ConfigError(
            f"{folder} already has a workspace: {', '.join(present)}",
            hint="nothing was written; choose another folder",
        )


def _write_new(contents: dict[Path, str]) -> list[Path]:
    written: list[Path] = []
    for path, text in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                written.append(path)
                stream.write(text)
        except OSError as error:
            for earlier in written:
                earlier.unlink(missing_ok=True)
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    return written

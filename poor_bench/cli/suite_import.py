"""`suite import`: convert public benchmarks to suite files."""

from __future__ import annotations

from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output_file import OutputFile
from poor_bench.command_line import examples, next_command
from poor_bench.errors import ConfigError

_EPILOG = examples(
    """
  pip install miniwob
  {program} suite import miniwob                        all tasks with a playbook
  {program} suite import miniwob --task click-button --task book-flight --seeds 5
"""
)


@click.group("import")
def import_suite() -> None:
    """Convert a public benchmark to a suite file."""


@import_suite.command("miniwob", epilog=_EPILOG)
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="Only this task.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Cases per task, each with different content.",
)
@click.option(
    "--no-playbooks", is_flag=True, help="Omit the playbooks, so that the model does all tasks."
)
@click.option(
    "--output",
    type=OutputFile(".yaml", ".yml"),
    help="File to write; suites/miniwob.yaml in the workspace by default.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@pass_app
def miniwob(
    app: AppContext,
    /,
    tasks: tuple[str, ...],
    seeds: int,
    no_playbooks: bool,
    output: Path | None,
    force: bool,
) -> int:
    """Write a suite of MiniWoB++ tasks; requires the package miniwob."""
    from poor_bench.evaluation.browser.miniwob.suite import miniwob_suite
    from poor_bench.evaluation.report import write_file

    path = output or app.data_dir / "suites" / "miniwob.yaml"
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists", hint="use --force to replace it")
    write_file(path, miniwob_suite(tasks, n_seeds=seeds, with_playbooks=not no_playbooks))
    click.echo(f"Wrote {path}. Next: {next_command(f'suite run {path}')}")
    return 0

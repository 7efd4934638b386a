"""`suite record`: turn the trial of an agent into a playbook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.stop_signals import stop_on_signal
from poor_bench.cli.suite_output import exit_code, show_report
from poor_bench.command_line import examples

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalSuite

_EPILOG = examples(
    """
  {program} suite run shop.yaml --case cancel --llm ollama:qwen3:8b
  {program} suite record cancel                  then, in the suite:  playbook: cancel
  {program} suite record cancel --run 20261122T0245 --name cancel_quickly
"""
)


@click.command(epilog=_EPILOG)
@click.argument("case")
@click.option(
    "--run",
    "run_reference",
    metavar="RUN",
    help="Run to record; the newest that passed by default.",
)
@click.option("--name", metavar="NAME", help="Name of the playbook; the case's id by default.")
@click.option("--force", is_flag=True, help="Replace an existing playbook.")
@click.option("--no-replay", is_flag=True, help="Do not try the playbook after writing it.")
@pass_app
def record(
    app: AppContext,
    /,
    case: str,
    run_reference: str | None,
    name: str | None,
    force: bool,
    no_replay: bool,
) -> int:
    """Write a playbook from the newest trial of CASE that an agent passed.

    The playbook is then tried without a model, against the expectations of the case. Exit code: 1
    if it fails.
    """
    from poor_bench.evaluation.recording import (
        find_recordable,
        playbook_path,
        replay_suite,
        write_playbook,
    )

    found = find_recordable(app.data_dir, case, run_reference)
    path = playbook_path(app.data_dir, name or case)
    write_playbook(found, path, overwrite=force)
    click.echo(f"Wrote {path}, from run {found.run.run_id}, trial {found.trial.trial}.")
    if no_replay:
        return 0
    return _replay(app.data_dir, replay_suite(found, path))


def _replay(data_dir: Path, suite: EvalSuite) -> int:
    from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
    from poor_bench.runner.control import RunControl

    control = RunControl()
    with stop_on_signal(control):
        report = run_suite_now(suite, SuiteOptions(data_dir=data_dir), control=control)
    show_report(report, as_json=False)
    return exit_code(report)

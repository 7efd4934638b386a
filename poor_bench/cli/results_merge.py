"""`results merge`: bring run files of other machines into the workspace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json, print_table, say, show_status
from poor_bench.command_line import examples, next_command
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.results.incoming import FoundRuns, TakenRun
    from poor_bench.runner.merging import MergeFault

_EPILOG = examples(
    """
  {program} results merge shards/            all run files below a folder
  {program} results merge desk1/data desk2/data
  {program} results merge shards/ --dry-run  what it would take and skip
  {program} results merge shards/ --allow evaluator

\b
Exit codes:
  0 merged, also if results were skipped
  2 a file or an option is wrong; 4 the results cannot be stored: nothing is lost
"""
)
_ALLOWED = ("prompt", "parameters", "evaluator", "model", "unknown", "all")


@click.command(epilog=_EPILOG)
@click.argument(
    "sources", nargs=-1, required=True, metavar="DIR_OR_FILE...", type=click.Path(path_type=Path)
)
@click.option(
    "--allow",
    type=click.Choice(_ALLOWED),
    multiple=True,
    help="Take results even if this differs. Default: they are skipped.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be taken; nothing changes.")
@json_option
@pass_app
def merge(
    app: AppContext,
    /,
    sources: tuple[Path, ...],
    allow: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
) -> int:
    """Bring run files of other machines into the workspace.

    Give run files, folders of them, or workspaces. They may overlap, be cut off or come twice. The
    outcome is the same in any order. Of two results of a trial, the one of the later run counts.
    Results whose prompt, parameters, evaluator or model differ from the workspace are skipped.
    """
    from poor_bench.llm_manager import LLMManager
    from poor_bench.results.incoming import Incoming, find_run_files
    from poor_bench.runner.merging import ALLOWED, ForeignResults
    from poor_bench.runs.turn import run_alone

    found = find_run_files(sources)
    manager = LLMManager(app.data_dir)
    allowed: frozenset[MergeFault] = frozenset().union(*(ALLOWED[word] for word in allow))
    with show_status("Reading run files"):
        check = ForeignResults(app.config, found.files, manager.is_local, allowed)
        incoming = Incoming(app.store, found.files, check.find_fault)
        if dry_run:
            runs = incoming.preview()
        else:
            with run_alone(app.store.paths.history, {}):
                runs = incoming.take()
    told = Merged(found, runs, incoming.n_closed, is_done=not dry_run)
    if as_json:
        print_json(_build_json(app, told))
    else:
        _print(app, told)
    return 0


class Merged(NamedTuple):
    """What a merge came to, or would come to."""

    found: FoundRuns
    runs: Sequence[TakenRun]
    n_closed: int
    is_done: bool

    @property
    def n_taken(self) -> int:
        """Results that are new in the workspace."""
        return sum(run.n_taken for run in self.runs)

    @property
    def skipped(self) -> Counter[str]:
        """Results that were left, by reason."""
        return sum((run.skipped for run in self.runs), Counter[str]())


def _print(app: AppContext, merged: Merged) -> None:
    if merged.runs:
        print_table(_build_row(run) for run in merged.runs)
    for each in merged.found.passed_over:
        say(f"Not used: {each.path} {each.reason}")
    for reason, count in sorted(merged.skipped.items()):
        say(f"Skipped: {write_count(count, 'result')}: {reason}{_advise(reason)}")
    verb = "Took" if merged.is_done else "Would take"
    taken = f"{verb} {write_count(merged.n_taken, 'result')}"
    click.echo(f"{taken} from {write_count(len(merged.runs), 'run')} of other workspaces.")
    if merged.n_closed:
        click.echo(f"Closed {write_count(merged.n_closed, 'run')} of this workspace.")
    if merged.is_done:
        click.echo(f"Results: {app.store.paths.snapshot}")
    if app.store.paths.list_sealed():
        export = next_command("results export")
        click.echo(f"Not all results are in that file. Write them there: {export}")


def _advise(reason: str) -> str:
    """Say how results can be used in spite of what differs."""
    if reason != "other evaluator":
        return ""
    return f". Take them with --allow evaluator, then score them again: {next_command('run')}"


def _build_row(run: TakenRun) -> dict[str, str]:
    return {
        "Run": run.run_id,
        ">Files": str(len(run.files)),
        ">Taken": str(run.n_taken),
        ">Known": str(run.n_known),
        ">Skipped": str(run.skipped.total()),
        ">Damaged lines": str(run.n_damaged),
    }


def _build_json(app: AppContext, merged: Merged) -> dict[str, Any]:
    not_used = merged.found.passed_over
    return {
        "dry_run": not merged.is_done,
        "n_taken": merged.n_taken,
        "n_closed": merged.n_closed,
        "skipped": dict(sorted(merged.skipped.items())),
        "runs": [
            {
                "run_id": run.run_id,
                "files": [str(path) for path in run.files],
                "n_taken": run.n_taken,
                "n_known": run.n_known,
                "n_damaged": run.n_damaged,
                "skipped": dict(sorted(run.skipped.items())),
            }
            for run in merged.runs
        ],
        "not_used": [{"path": str(each.path), "reason": each.reason} for each in not_used],
        "results": str(app.store.paths.snapshot),
    }

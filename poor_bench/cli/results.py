"""`results`: look at single results; bring in those of other machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poor_bench.cli.context import AppContext, accept_workspace, pass_app
from poor_bench.cli.output import (
    console,
    json_option,
    print_json,
    print_table,
    say,
    shorten,
    show_status,
)
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count

if TYPE_CHECKING:
    from poor_bench.models.result import Result
    from poor_bench.results.incoming import FoundRuns, TakenRun
    from poor_bench.runner.merging import MergeFault


_EPILOG = write_examples(
    """
  {program} results                          a line for every result
  {program} results math_001                 everything about one test
  {program} results math_001 --llm 'ollama:*'
  {program} results --failed                 failed trials and their reasons
  {program} results export                   write all results to results.json
  {program} results merge DIR                bring in run files of other machines
"""
)
_EXPORT = "export"
"""Stands where a test id may stand."""
_MERGE = "merge"
_DETAIL_FIELDS = (
    "score", "strict_score", "found", "extracted", "expected", "got", "finish_reason", "marks",
    "execution_time_ms", "first_token_ms", "load_ms", "prompt_tokens", "cached_tokens",
    "completion_tokens", "thinking_tokens", "cost_usd", "sandbox", "via", "machine", "timestamp",
    "run_id",
)  # fmt: skip


class _WithMerge(click.Command):
    """A command whose first word may be `merge`, which has options of its own."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if args[:1] != [_MERGE]:
            return super().make_context(info_name, args, parent, **extra)
        accept_workspace(merge)
        return merge.make_context(f"{info_name} {_MERGE}", args[1:], parent, **extra)


@click.command(cls=_WithMerge, epilog=_EPILOG)
@click.argument("test_id", required=False)
@click.option("--llm", "llm_glob", metavar="ID", help="Model id, label or glob.")
@click.option("--failed", is_flag=True, help="Show only attempts that failed to run.")
@click.option(
    "--repair", is_flag=True, help="Rebuild a damaged results file; the damaged file is kept."
)
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    test_id: str | None,
    llm_glob: str | None,
    failed: bool,
    repair: bool,
    as_json: bool,
) -> int:
    """Show single results: prompt, thinking, response, score, details.

    `results export` writes results.json. A run does so at its end, but only up to 100,000 results
    (or $POOR_BENCH_RESULTS_LIMIT). `results merge` adds results of other machines; see its
    --help.
    """
    if repair:
        return _repair(app)
    if test_id == _EXPORT and test_id not in app.workspace.tests_by_id:
        return _export(app)
    results = list(_select(app, test_id, llm_glob, failed=failed))
    if as_json:
        from poor_bench.models.result import result_to_record

        print_json([result_to_record(result) for result in results])
    elif not results:
        click.echo("No results match.")
    elif test_id is not None:
        for result in results:
            _print_whole(result)
    else:
        _print_rows(results, app.workspace.tests_by_id)
    return 0


def _select(
    app: AppContext, test_id: str | None, llm_glob: str | None, *, failed: bool
) -> Iterator[Result]:
    from poor_bench.config.names import find_stored_ids

    if test_id is not None:
        _require_test(app, test_id)
    llm_ids = None
    if llm_glob:
        stored = app.store.count_by_llm()
        llm_ids = find_stored_ids(llm_glob, app.workspace.llms, stored)
    for result in app.store.results():
        if test_id is not None and result.test_id != test_id:
            continue
        if llm_ids is not None and result.llm_id not in llm_ids:
            continue
        if not failed or result.failure is not None:
            yield result


def _require_test(app: AppContext, test_id: str) -> None:
    from poor_bench.config.names import write_names_hint

    known = app.workspace.tests_by_id
    if test_id in known:
        return
    stored = {result.test_id: None for result in app.store.results()}
    if test_id not in stored:
        hint = write_names_hint(test_id, {**known, **stored})
        raise ConfigError(f"unknown test {test_id!r}", hint=hint)


def _print_rows(results: list[Result], tests: Container[str]) -> None:
    print_table(
        {
            "Model": result.llm_id,
            "Test": result.test_id if result.test_id in tests else f"{result.test_id} (removed)",
            ">Trial": str(result.trial),
            ">Score": "-" if result.score is None else f"{result.score:.2f}",
            "Details": shorten(result.failure.message if result.failure else result.details, 100),
        }
        for result in results
    )


def _print_whole(result: Result) -> None:
    from rich.text import Text

    title = f"{result.test_id}  {result.llm_id}  trial {result.trial}"
    console().rule(Text(harmless(title)), align="left")
    failure = result.failure
    sections = {
        "Failed to run": f"{failure.kind}: {failure.message}" if failure else "",
        "System prompt": result.system_prompt,
        "Prompt": result.prompt,
        "Thinking": result.thinking,
        "Response": result.response,
        "Details": result.details,
    }
    for heading, text in sections.items():
        if text:
            console().print(f"[bold]{heading}[/bold]")
            say(f"{text}\n")
    for name in _DETAIL_FIELDS:
        value = getattr(result, name)
        if value not in (None, "", ()):
            shown = " ".join(value) if isinstance(value, tuple) else str(value)
            say(f"{name:18} {shorten(shown, 100)}")


def _export(app: AppContext) -> int:
    n_results = app.store.export()
    click.echo(f"Wrote {write_count(n_results, 'result')} to {app.store.paths.snapshot}")
    return 0


def _repair(app: AppContext) -> int:
    from poor_bench.results.repair import is_healthy, repair_snapshot

    if is_healthy(app.store.paths):
        click.echo(f"{app.store.paths.snapshot} is not damaged. Nothing is changed.")
        return 0
    repaired = repair_snapshot(app.store.paths)
    click.echo(f"The damaged file is now {repaired.kept_as}")
    click.echo(
        f"Rebuilt {app.store.paths.snapshot}: {write_count(repaired.n_rows, 'row')} read, "
        f"{write_count(repaired.n_unreadable, 'line')} not readable, "
        f"{write_count(repaired.n_runs, 'stored run')} used"
    )
    return 0


_MERGE_EPILOG = write_examples(
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


@click.command(epilog=_MERGE_EPILOG)
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
        _print_merge(app, told)
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


def _print_merge(app: AppContext, merged: Merged) -> None:
    if merged.runs:
        print_table(_build_row(run) for run in merged.runs)
    for each in merged.found.passed_over:
        say(f"Not used: {each.path} {each.reason}")
    for path in (path for run in merged.runs for path in run.cut):
        say(f"Cut off: {path} ends in the middle of a line. If the original is longer, merge that.")
    for reason, count in sorted(merged.skipped.items()):
        say(f"Skipped: {write_count(count, 'result')}: {reason}{_advise(reason)}")
    verb = "Took" if merged.is_done else "Would take"
    taken = f"{verb} {write_count(merged.n_taken, 'result')}"
    click.echo(f"{taken} from {write_count(len(merged.runs), 'run')} of other workspaces.")
    if merged.n_closed:
        click.echo(f"Closed {write_count(merged.n_closed, 'run')} of this workspace.")
    if merged.is_done and app.store.paths.snapshot.exists():
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
                "cut": [str(path) for path in run.cut],
                "skipped": dict(sorted(run.skipped.items())),
            }
            for run in merged.runs
        ],
        "not_used": [{"path": str(each.path), "reason": each.reason} for each in not_used],
        "results": str(app.store.paths.snapshot),
    }

"""`suite`: list, check, import and report suites for computer-using agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import OutputFileType
from poor_bench.cli.output import (
    count_problems,
    has_errors,
    json_option,
    print_json,
    print_problems,
    print_table,
)
from poor_bench.cli.suite_run import (
    record,
    report_file_options,
    run,
    show_report,
    write_report_files,
)
from poor_bench.command_line import next_command, write_examples
from poor_bench.errors import ConfigError, PoorBenchError

if TYPE_CHECKING:
    from poor_bench.evaluation.models import EvalSuiteResult
    from poor_bench.evaluation.stored_run import SuiteRun


_EPILOG = write_examples(
    """
  {program} suite run example                    the example suite; needs no model
  {program} suite run my_suite.yaml --tag smoke --trials 3 --html report.html
  {program} suite validate my_suite.yaml
  {program} suite report last --html report.html
  {program} suite record cancel-order            turn an agent's trial into a playbook
  {program} suite import miniwob                 import a public benchmark
"""
)


_LIST_EXAMPLES = write_examples(
    """
  {program} suite list
  {program} suite list --json
"""
)
_VALIDATE_EXAMPLES = write_examples(
    """
  {program} suite validate                   all suites of the workspace
  {program} suite validate my_suite.yaml
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Test computer-using agents with suites of cases: browser, model, playbooks."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_suites)
    return 0


_NEWEST = 10


@command.command("list", epilog=_LIST_EXAMPLES)
@json_option
@pass_app
def list_suites(app: AppContext, /, as_json: bool = False) -> int:
    """List suites that can be run by name, and the newest runs."""
    from poor_bench.evaluation.stored_run import list_suite_runs
    from poor_bench.evaluation.suite_file import list_suites

    suites = [_describe_suite(path, app.data_dir) for path in list_suites(app.data_dir)]
    runs = [_describe_run(run) for run in reversed(list_suite_runs(app.data_dir)[-_NEWEST:])]
    if as_json:
        print_json({"suites": suites, "runs": runs})
        return 0
    print_table(map(_build_suite_row, suites))
    if runs:
        print_table(map(_build_run_row, runs))
    if any(row["cases"] is None for row in suites):
        click.echo(f"Some suites are not valid. See why: {next_command('suite validate')}")
    click.echo(f"Next: {next_command('suite run NAME')}")
    return 0


def _build_suite_row(row: dict[str, Any]) -> dict[str, str]:
    n_cases = "not valid" if row["cases"] is None else str(row["cases"])
    tags = ", ".join(row["tags"])
    return {"Suite": row["name"], ">Cases": n_cases, "Tags": tags, "File": row["file"]}


def _describe_suite(path: Path, data_dir: Path) -> dict[str, Any]:
    from poor_bench.evaluation.suite_file import check_suite

    suite, problems = check_suite(path, data_dir)
    cases = suite.cases if suite else ()
    return {
        "name": path.stem,
        "file": str(path),
        "cases": len(cases) if suite else None,
        "tags": sorted({tag for case in cases for tag in case.benchmark_tags}),
        "problems": [str(problem) for problem in problems],
    }


def _describe_run(run: Any) -> dict[str, Any]:
    row = {"run_id": run.run_id, "suite": run.suite, "started": run.started}
    try:
        report = run.report()
    except PoorBenchError as error:
        return {**row, "problem": str(error)}
    return {
        **row,
        "passed": report.passed,
        "failed": report.failed,
        "not_run": report.not_run,
        "is_going_on": run.is_going_on,
        "cancelled": report.cancelled,
    }


def _build_run_row(row: dict[str, Any]) -> dict[str, str]:
    cells = {"Run": row["run_id"], "Suite": row["suite"]}
    if "problem" in row:
        return {**cells, ">Passed": "", "Result": row["problem"]}
    words = [f"{row[key]} {key.replace('_', ' ')}" for key in ("failed", "not_run") if row[key]]
    words += ["running"] if row["is_going_on"] else ["stopped"] if row["cancelled"] else []
    passed = f"{row['passed']}/{row['passed'] + row['failed']}"
    return {**cells, ">Passed": passed, "Result": ", ".join(words) or "passed"}


@command.command(epilog=_VALIDATE_EXAMPLES)
@click.argument("files", nargs=-1)
@json_option
@pass_app
def validate(app: AppContext, /, files: tuple[str, ...], as_json: bool) -> int:
    """Check suite FILES, and the playbooks, profiles and servers that they use.

    Without FILES, all suites are checked. Profiles are imported: their modules run. Exit code: 2
    if an error was found.
    """
    from poor_bench.evaluation.suite_file import check_suite_and_playbooks, find_suite, list_suites

    paths: list[Path] = [find_suite(file, app.data_dir) for file in files]
    problems = []
    for path in paths or list_suites(app.data_dir):
        problems += check_suite_and_playbooks(path, app.data_dir)
    if as_json:
        print_json({"problems": problems})
    else:
        print_problems(problems)
        click.echo(count_problems(problems))
    return 2 if has_errors(problems) else 0


_IMPORT_EXAMPLES = write_examples(
    """
  pip install miniwob
  {program} suite import miniwob                        all tasks with a playbook
  {program} suite import miniwob --task click-button --task book-flight --seeds 5
"""
)


@command.group("import")
def import_suite() -> None:
    """Convert a public benchmark to a suite file."""


@import_suite.command("miniwob", epilog=_IMPORT_EXAMPLES)
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="Only this task.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=1,
    help="Cases per task, each with different content.",
)
@click.option(
    "--no-playbooks", is_flag=True, help="Omit the playbooks, so that the model does all tasks."
)
@click.option(
    "--output",
    type=OutputFileType(".yaml", ".yml"),
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
    from poor_bench.evaluation.browser.miniwob.pages import make_miniwob_suite
    from poor_bench.evaluation.reports import write_file

    path = output or app.data_dir / "suites" / "miniwob.yaml"
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists", hint="use --force to replace it")
    write_file(path, make_miniwob_suite(tasks, n_seeds=seeds, with_playbooks=not no_playbooks))
    click.echo(f"Wrote {path}. Next: {next_command(f'suite run {path}')}")
    return 0


_REPORT_EXAMPLES = write_examples(
    """
  {program} suite report                       the last run
  {program} suite report 20261122T0245 --html report.html
  {program} suite report last --junit report.xml --output report.json
  {program} suite report report.json --html report.html
"""
)


@command.command(epilog=_REPORT_EXAMPLES)
@click.argument("run", default="last")
@report_file_options
@json_option
@pass_app
def report(app: AppContext, /, run: str, as_json: bool, **files: Path | None) -> int:
    """Show or export a RUN: `last`, the start of its id, its folder, or a report as JSON.

    Stored trials are judged by the cases of their run. Running and interrupted runs are shown as
    far as they are stored. A report from `--output` does not contain steps or screenshots.
    """
    from poor_bench.evaluation.stored_run import SUITE_RUNS
    from poor_bench.runs.history import RunHistory

    stored, result = _open(app, Path(run), run)
    history = RunHistory(app.data_dir, SUITE_RUNS)
    is_here = stored is not None and stored.folder.resolve().parent == history.folder.resolve()
    show_report(result, history if is_here else None, as_json=as_json)
    write_report_files(result, stored, files)
    return 0


def _open(app: AppContext, path: Path, reference: str) -> tuple[SuiteRun | None, EvalSuiteResult]:
    from poor_bench.evaluation.reports import read_report
    from poor_bench.evaluation.stored_run import find_suite_run, open_run

    if path.is_file():
        return None, read_report(path)
    stored = open_run(path) if path.exists() else find_suite_run(app.data_dir, reference)
    return stored, stored.report()


for _subcommand in (run, record):
    command.add_command(_subcommand)

"""`suite list`: suites that can be run by name, and stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import Column, console, harmless, json_option, plain_table, print_json
from poor_bench.command_line import next_command
from poor_bench.errors import PoorBenchError

_NEWEST = 10


@click.command("list")
@json_option
@pass_app
def list_suites(app: AppContext, /, as_json: bool = False) -> int:
    """List suites that can be run by name, and the newest runs."""
    from poor_bench.evaluation.stored_run import stored_runs
    from poor_bench.evaluation.suite_files import suite_files

    suites = [_suite_row(path, app.data_dir) for path in suite_files(app.data_dir)]
    runs = [_run_row(run) for run in reversed(stored_runs(app.data_dir)[-_NEWEST:])]
    if as_json:
        print_json({"suites": suites, "runs": runs})
        return 0
    columns: list[Column] = ["Suite", ("Cases", "right"), "Tags", "File"]
    cells = [
        [row["name"], str(row["cases"]), ", ".join(row["tags"]), row["file"]] for row in suites
    ]
    console().print(plain_table(columns, cells))
    if runs:
        heads: list[Column] = ["Run", "Suite", ("Passed", "right"), "Result"]
        console().print(plain_table(heads, [_run_cells(row) for row in runs]))
    click.echo(f"Next: {next_command('suite run NAME')}")
    return 0


def _suite_row(path: Path, data_dir: Path) -> dict[str, Any]:
    from poor_bench.evaluation.suite_file import check_suite

    suite, problems = check_suite(path, data_dir)
    cases = suite.cases if suite else ()
    return {
        "name": path.stem,
        "file": str(path),
        "cases": len(cases),
        "tags": sorted({tag for case in cases for tag in case.benchmark_tags}),
        "problems": [str(problem) for problem in problems],
    }


def _run_row(run: Any) -> dict[str, Any]:
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


def _run_cells(row: dict[str, Any]) -> list[str]:
    if "problem" in row:
        return [row["run_id"], row["suite"], "", harmless(row["problem"])]
    words = [f"{row['failed']} failed"] if row["failed"] else []
    words += [f"{row['not_run']} not run"] if row["not_run"] else []
    words += ["running"] if row["is_going_on"] else ["stopped"] if row["cancelled"] else []
    passed = f"{row['passed']}/{row['passed'] + row['failed']}"
    return [row["run_id"], row["suite"], passed, ", ".join(words) or "passed"]

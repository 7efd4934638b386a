"""`suite validate`: check suite files without running them."""

from __future__ import annotations

from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.cli.problem_list import count_problems, print_problems, problems_to_json


@click.command()
@click.argument("files", nargs=-1)
@json_option
@pass_app
def validate(app: AppContext, /, files: tuple[str, ...], as_json: bool) -> int:
    """Check suite FILES, and the playbooks, profiles and servers that they use.

    Without FILES, all suites are checked. Profiles are imported: their modules run. Exit code: 2
    if an error was found.
    """
    from poor_bench.evaluation.playbook_checks import check_suite_and_playbooks
    from poor_bench.evaluation.suite_files import find_suite, suite_files
    from poor_bench.models.problem import Severity

    paths: list[Path] = [find_suite(file, app.data_dir) for file in files]
    problems = []
    for path in paths or suite_files(app.data_dir):
        problems += check_suite_and_playbooks(path, app.data_dir)
    if as_json:
        print_json({"problems": problems_to_json(problems)})
    else:
        print_problems(problems, limit=len(problems))
        click.echo(count_problems(problems))
    return 2 if any(problem.severity is Severity.ERROR for problem in problems) else 0

"""`tests lint`: find unfair, contradictory and doubled tests, and mend what is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import json_option, print_json
from poor_bench.cli.problem_list import count_problems, print_problems, problems_to_json
from poor_bench.command_line import next_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.lint.subject import Finding


@click.command()
@click.option("--fix", "fixes", is_flag=True, help="Apply safe fixes to tests.json.")
@click.option("--all", "shows_all", is_flag=True, help="Show all problems, not only the first 50.")
@json_option
@pass_app
def lint(app: AppContext, /, fixes: bool, shows_all: bool, as_json: bool) -> int:
    """Find faulty tests.

    Checks, among others: the reference response passes and an empty one fails, the prompt states
    what the evaluator requires, inputs fit the function, no test is duplicated or contradicts
    another. --fix applies only fixes that cannot make a test worse.
    """
    from poor_bench.models.problem import Severity

    findings = app.config.lint()
    n_fixed = 0
    if fixes:
        n_fixed = _apply(app, findings)
        app.config.reload()
        findings = app.config.lint()
    problems = [finding.problem for finding in findings]
    if as_json:
        print_json({"fixed_tests": n_fixed, "problems": problems_to_json(problems)})
    else:
        print_problems(problems, limit=len(problems) if shows_all else 50)
        click.echo(_summary(findings, n_fixed))
    return 1 if any(problem.severity is Severity.ERROR for problem in problems) else 0


def _apply(app: AppContext, findings: list[Finding]) -> int:
    from poor_bench.lint.lint import apply_fixes

    return apply_fixes(app.workspace, [fix for finding in findings for fix in finding.fixes])


def _summary(findings: list[Finding], n_fixed: int) -> str:
    text = f"\n{count_problems([finding.problem for finding in findings])}"
    if n_fixed:
        text = f"\nFixed {counted(n_fixed, 'test')}. Remaining:{text}"
    mendable = sum(bool(finding.fixes) for finding in findings)
    if mendable:
        text += f"; {mendable} can be fixed by: {next_command('tests lint --fix')}"
    return text

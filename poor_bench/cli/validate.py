"""`validate`: check all files of the workspace, and the tests by their own references."""

from __future__ import annotations

from collections.abc import Iterator

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import all_problems_option
from poor_bench.cli.output import (
    count_problems,
    has_errors,
    json_option,
    print_json,
    print_problems,
)
from poor_bench.command_line import write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem

_EPILOG = write_examples(
    """
  {program} validate
  {program} --data my_bench validate --all
"""
)


@click.command(epilog=_EPILOG)
@all_problems_option
@json_option
@pass_app
def command(app: AppContext, /, shows_all: bool, as_json: bool) -> int:
    """Check all files of the workspace.

    It checks the files and the tests themselves: reference responses score 1.0, empty responses
    score 0, prompts state what evaluators require, and more.
    """
    problems = _find_problems(app)
    is_valid = not has_errors(problems)
    if as_json:
        print_json({"valid": is_valid, "problems": problems})
    else:
        print_problems(problems, None if shows_all else 50)
        click.echo(_summarise(app, problems, is_valid=is_valid))
    return 0 if is_valid else 2


def _find_problems(app: AppContext) -> list[Problem]:
    from poor_bench.plugins.detectors import list_detector_problems

    try:
        loading = app.workspace.problems
    except ConfigError as error:
        if not error.problems:
            raise
        return list(error.problems)
    of_tests = (finding.problem for finding in app.config.lint())
    of_detectors = list_detector_problems(app.data_dir / "issues")
    return [
        *loading,
        *_find_settings_problems(app),
        *of_detectors,
        *_find_agent_problems(app),
        *_find_suite_problems(app),
        *of_tests,
    ]


def _find_settings_problems(app: AppContext) -> Iterator[Problem]:
    """Yield the problems of config.yaml, which `run` would refuse, and of gates.yaml."""
    from poor_bench.config.gate_entries import load_gates
    from poor_bench.config.judge_settings import load_settings
    from poor_bench.config.load import GATES_FILE

    try:
        load_settings(app.data_dir)
    except ConfigError as error:
        yield from error.problems
    gates = app.data_dir / GATES_FILE
    if gates.exists():
        try:
            load_gates(gates, app.workspace)
        except ConfigError as error:
            yield from error.problems


def _find_agent_problems(app: AppContext) -> list[Problem]:
    from poor_bench.judge.registry import load_agent_registry

    try:
        return list(load_agent_registry(app.data_dir).problems)
    except ConfigError as error:
        return list(error.problems)


def _find_suite_problems(app: AppContext) -> list[Problem]:
    """Problems of the suites of the workspace; those of the package are tested with it."""
    from poor_bench.evaluation.suite_file import check_suite_and_playbooks, list_suites

    own = [path for path in list_suites(app.data_dir) if path.is_relative_to(app.data_dir)]
    return [problem for path in own for problem in check_suite_and_playbooks(path, app.data_dir)]


def _summarise(app: AppContext, problems: list[Problem], *, is_valid: bool) -> str:
    if not is_valid:
        return f"\n{app.data_dir}: {count_problems(problems)}"
    workspace = app.workspace
    content = (
        f"{write_count(len(workspace.tests), 'test')} in "
        f"{write_count(len(workspace.test_classes), 'class')}, "
        f"{write_count(len(workspace.llms), 'model')}"
    )
    verdict = count_problems(problems) if problems else "no problems"
    return f"{app.data_dir}: {content}: {verdict}"

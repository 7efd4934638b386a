"""Load a whole workspace, and tell everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.command_line import next_command
from poor_bench.config.workspace import Workspace
from poor_bench.errors import ConfigError
from poor_bench.messages import counted
from poor_bench.models.problem import Problem, Severity

if TYPE_CHECKING:
    from poor_bench.config.evaluator_checks import CheckParameters
    from poor_bench.config.llm_checks import IsOwnProvider


def load_workspace(
    data_dir: Path,
    *,
    known_evaluators: Collection[str] | None = None,
    check_parameters: CheckParameters | None = None,
    is_own_provider: IsOwnProvider | None = None,
) -> Workspace:
    """Read and check the three files of a workspace.

    Args:
        data_dir: The folder of the files.
        known_evaluators: Names that tests and classes may use; None leaves them unchecked.
        check_parameters: Says what is wrong with the parameters of an evaluator; None leaves them
            unchecked.
        is_own_provider: Accepts providers that are not in the catalog; None accepts no others.

    Raises:
        ConfigError: With every problem of every file, if one of them is an error.
    """
    from poor_bench.config.cross_references import check_references
    from poor_bench.config.evaluator_checks import EvaluatorChecks
    from poor_bench.config.files import load_llms, load_test_classes, load_tests
    from poor_bench.config.llm_checks import no_own_provider

    require_workspace_folder(data_dir)
    classes = load_test_classes(data_dir)
    tests = load_tests(data_dir, classes.by_id)
    llms = load_llms(data_dir, is_own_provider or no_own_provider)
    check_references(classes, tests, llms)
    EvaluatorChecks(known_evaluators, check_parameters).check(classes, tests)
    problems = [*classes.report.problems, *tests.report.problems, *llms.report.problems]
    raise_errors(problems)
    return Workspace(
        data_dir=data_dir,
        test_classes=classes.by_id,
        tests=tests.items,
        tests_by_id=tests.by_id,
        llms=llms.items,
        llms_by_id=llms.by_id,
        problems=tuple(problems),
    )


def require_workspace_folder(data_dir: Path) -> None:
    """Refuse a workspace that is not there as a whole, in one message.

    Raises:
        ConfigError: If there is no such folder.
    """
    if not data_dir.is_dir():
        what = "is not a folder" if data_dir.exists() else "does not exist"
        command = next_command("init", data_dir, in_workspace=False)
        hint = f"`{command}` makes a workspace; --data DIR names another"
        raise ConfigError(f"the workspace {data_dir} {what}", hint=hint)


def raise_errors(problems: Sequence[Problem]) -> None:
    """Raise all problems together if one of them is an error.

    Raises:
        ConfigError: With all problems, warnings included.
    """
    n_errors = sum(problem.severity is Severity.ERROR for problem in problems)
    if n_errors:
        files = ", ".join(dict.fromkeys(problem.file for problem in problems))
        raise ConfigError(f"{counted(n_errors, 'problem')} in {files}", problems=problems)

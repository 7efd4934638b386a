"""Load a workspace, whole or one file at a time, and tell everything that is wrong at once."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.command_line import next_command
from poor_bench.config.document import Document, open_document
from poor_bench.config.entry_validation import written_ids
from poor_bench.config.json_document import parse_json
from poor_bench.config.llm_entries import IsOwnProvider, check_llms, decode_llms, no_own_provider
from poor_bench.config.report import Loaded, Report, collect
from poor_bench.config.test_entries import decode_test_classes, decode_tests
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity
from poor_bench.models.test import Test, TestClass

if TYPE_CHECKING:
    from poor_bench.config.cross_references import CheckParameters
    from poor_bench.config.llm_entries import IsOwnProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The validated content of a workspace, in the order of its files."""

    data_dir: Path
    test_classes: Mapping[str, TestClass]
    """By id."""
    tests: tuple[Test, ...]
    tests_by_id: Mapping[str, Test]
    llms: tuple[LLM, ...]
    llms_by_id: Mapping[str, LLM]
    problems: tuple[Problem, ...] = ()
    """Warnings; with an error there is no workspace."""
    version: int = field(default_factory=itertools.count(1).__next__, compare=False)
    """Differs between any two that one process has loaded."""

    @property
    def enabled_llms(self) -> tuple[LLM, ...]:
        """The LLMs that runs ask."""
        return tuple(llm for llm in self.llms if llm.enabled)

    @property
    def enabled_tests(self) -> tuple[Test, ...]:
        """The tests that runs ask and figures count."""
        return tuple(test for test in self.tests if test.enabled)


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
    from poor_bench.config.cross_references import EvaluatorChecks, check_references
    from poor_bench.config.llm_entries import no_own_provider

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
        ConfigError: If the folder does not exist.
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
        raise ConfigError(f"{write_count(n_errors, 'problem')} in {files}", problems=problems)


TEST_CLASSES_FILE = "test_classes.yaml"
TESTS_FILE = "tests.json"
LLMS_FILE = "llms.json"


def llms_file(data_dir: Path) -> Path:
    """Return where the LLMs of a workspace stand; `$POOR_BENCH_LLMS` names another file."""
    return Path(os.environ.get("POOR_BENCH_LLMS") or data_dir / LLMS_FILE)


def load_test_classes(data_dir: Path) -> Loaded[TestClass]:
    """Return the test classes of a workspace, and what is wrong in their file."""
    document, report = open_document(data_dir / TEST_CLASSES_FILE, parse_yaml)
    return decode_test_classes_file(document, report)


def decode_test_classes_file(document: Document | None, report: Report) -> Loaded[TestClass]:
    """Return the test classes of a parsed file; the report takes what is wrong with them."""
    entries = decode_test_classes(document, report) if document else ()
    written = written_ids(document, "test_classes", "id") if document else frozenset()
    return collect(entries, lambda test_class: test_class.id, report, written_ids=written)


def load_tests(data_dir: Path, classes: Mapping[str, TestClass]) -> Loaded[Test]:
    """Return the tests of a workspace, and what is wrong in their file."""
    document, report = open_document(data_dir / TESTS_FILE, parse_json)
    return decode_tests_file(document, classes, report)


def decode_tests_file(
    document: Document | None, classes: Mapping[str, TestClass], report: Report
) -> Loaded[Test]:
    """Return the tests of a parsed file; the report takes what is wrong with them."""
    entries = decode_tests(document, classes, report) if document else ()
    return collect(entries, lambda test: test.test_id, report)


def load_llms(data_dir: Path, is_own_provider: IsOwnProvider = no_own_provider) -> Loaded[LLM]:
    """Return the LLMs of a workspace, and what is wrong in their file."""
    document, report = open_document(llms_file(data_dir), parse_json)
    return decode_llms_file(document, report, is_own_provider)


def decode_llms_file(
    document: Document | None, report: Report, is_own_provider: IsOwnProvider = no_own_provider
) -> Loaded[LLM]:
    """Return the LLMs of a parsed file; the report takes what is wrong with them."""
    entries = decode_llms(document, report) if document else ()
    hint = 'tell them apart by an `id` of their own, such as "id": "gemma-short"'
    llms = collect(entries, lambda llm: llm.id, report, hint=hint)
    check_llms(llms, is_own_provider)
    return llms

"""Load a workspace, whole or one file at a time, and tell everything that is wrong at once.

The files are checked each by itself, then together: ids, placeholders, evaluators.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from poor_bench.command_line import next_command
from poor_bench.config.document import (
    Document,
    Loaded,
    Place,
    Report,
    collect,
    open_document,
    parse_place,
)
from poor_bench.config.json_document import parse_json
from poor_bench.config.kept_entries import (
    KeptEntries,
    KeptTests,
    has_many_tests,
    restore_llm,
    restore_test_class,
)
from poor_bench.config.names import find_nearest_name, name_hint
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.problem import Problem, Severity
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.prompts import (
    CONTENT_PLACEHOLDERS,
    list_placeholders,
    list_unfilled_placeholders,
)

if TYPE_CHECKING:
    from poor_bench.config.entries import IsOwnProvider


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
    tests_digest: str = ""
    """Differs for other tests; empty where they are few enough to tell each."""
    problems: tuple[Problem, ...] = ()
    """Warnings; with an error the workspace is missing."""
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
    require_workspace_folder(data_dir)
    classes = load_test_classes(data_dir)
    tests = load_tests(data_dir, classes.by_id)
    llms = load_llms(data_dir, is_own_provider)
    check_references(classes, tests, llms)
    EvaluatorChecks(known_evaluators, check_parameters).check(classes, tests)
    problems = [*classes.report.problems, *tests.report.problems, *llms.report.problems]
    raise_errors(problems)
    return Workspace(
        data_dir=data_dir,
        test_classes=classes.by_id,
        tests=tests.items,
        tests_by_id=tests.by_id,
        tests_digest=tests.digest,
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
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        files = ", ".join(dict.fromkeys(problem.file for problem in errors))
        raise ConfigError(f"{write_count(len(errors), 'problem')} in {files}", problems=problems)


TEST_CLASSES_FILE = "test_classes.yaml"
TESTS_FILE = "tests.json"
LLMS_FILE = "llms.json"
CONFIG_FILE = "config.yaml"
GATES_FILE = "gates.yaml"


def find_llms_file(data_dir: Path) -> Path:
    """Find the file of a workspace's LLMs; `$POOR_BENCH_LLMS` names another file."""
    return Path(os.environ.get("POOR_BENCH_LLMS") or data_dir / LLMS_FILE)


def load_test_classes(data_dir: Path) -> Loaded[TestClass]:
    """Load the test classes of a workspace, and what is wrong in their file."""
    kept = KeptEntries(
        data_dir / "index" / "checked_classes.json",
        parse_yaml,
        restore_test_class,
        is_kept=has_many_tests(data_dir / TESTS_FILE),
    )
    document, report = open_document(data_dir / TEST_CLASSES_FILE, kept.parse)
    return kept.load(document, report, decode_test_classes_file)


def decode_test_classes_file(document: Document | None, report: Report) -> Loaded[TestClass]:
    """Decode the test classes of a parsed file; the report takes what is wrong with them."""
    from poor_bench.config.entries import decode_test_classes
    from poor_bench.config.entry_validation import list_written_ids

    entries = decode_test_classes(document, report) if document else ()
    written = list_written_ids(document, "test_classes", "id") if document else frozenset()
    return collect(entries, lambda test_class: test_class.id, report, written_ids=written)


def load_tests(data_dir: Path, classes: Mapping[str, TestClass]) -> Loaded[Test]:
    """Load the tests of a workspace, and what is wrong in their file."""
    kept = KeptTests(data_dir / "index", classes)
    document, report = open_document(data_dir / TESTS_FILE, kept.parse)
    if kept.known is not None:
        return Loaded(report, kept.known, kept.places, digest=kept.digest)
    tests = decode_tests_file(document, classes, report)
    if not report.problems:
        kept.keep(tests.items)
    return replace(tests, digest=kept.digest)


def decode_tests_file(
    document: Document | None, classes: Mapping[str, TestClass], report: Report
) -> Loaded[Test]:
    """Decode the tests of a parsed file; the report takes what is wrong with them."""
    from poor_bench.config.entries import decode_tests

    entries = decode_tests(document, classes, report) if document else ()
    return collect(entries, lambda test: test.test_id, report)


def load_llms(data_dir: Path, is_own_provider: IsOwnProvider | None = None) -> Loaded[LLM]:
    """Load the LLMs of a workspace, and what is wrong in their file."""
    kept = KeptEntries(
        data_dir / "index" / "checked_llms.json",
        parse_json,
        restore_llm,
        is_kept=is_own_provider is None and has_many_tests(data_dir / TESTS_FILE),
    )
    document, report = open_document(find_llms_file(data_dir), kept.parse)
    return kept.load(document, report, partial(decode_llms_file, is_own_provider=is_own_provider))


def load_known_llms(data_dir: Path) -> tuple[LLM, ...]:
    """Read the models of a workspace; none where llms.json does not exist.

    Raises:
        ConfigError: With every problem of llms.json.
    """
    if not find_llms_file(data_dir).is_file():
        return ()
    loaded = load_llms(data_dir)
    raise_errors(loaded.report.problems)
    return tuple(loaded.items)


def decode_llms_file(
    document: Document | None, report: Report, is_own_provider: IsOwnProvider | None = None
) -> Loaded[LLM]:
    """Decode the LLMs of a parsed file; the report takes what is wrong with them."""
    from poor_bench.config.entries import check_llms, decode_llms

    entries = decode_llms(document, report) if document else ()
    hint = 'tell them apart by an `id` of their own, such as "id": "gemma-short"'
    llms = collect(entries, lambda llm: llm.id, report, hint=hint)
    check_llms(llms, is_own_provider)
    return llms


def check_references(classes: Loaded[TestClass], tests: Loaded[Test], llms: Loaded[LLM]) -> None:
    """Note, in the report of the file to fix, what does not fit together.

    A file without any valid entry is not held against the others: it has an error of its own.
    """
    if classes.by_id:
        _check_class_ids(classes, tests)
    if tests.by_id:
        _check_emptiness(classes, tests)
        check_placeholders(classes, tests)
    if llms.by_id:
        _check_overrides(classes, llms)


def _check_class_ids(classes: Loaded[TestClass], tests: Loaded[Test]) -> None:
    for test_id, test in tests.by_id.items():
        if test.class_id not in classes.written_ids:
            tests.report.error(
                (*tests.places[test_id], "class_id"),
                f"unknown test class `{test.class_id}`",
                hint=name_hint(test.class_id, classes.by_id),
                code="unknown-class",
            )


def _check_emptiness(classes: Loaded[TestClass], tests: Loaded[Test]) -> None:
    used = {test.class_id for test in tests.items}
    for class_id, place in classes.places.items():
        if class_id not in used:
            message = f"no test belongs to the class `{class_id}`"
            classes.report.warning(place, message, code="empty-class")


def _check_overrides(classes: Loaded[TestClass], llms: Loaded[LLM]) -> None:
    for class_id, test_class in classes.by_id.items():
        for llm_id in test_class.overrides:
            if not any(resolve_llm_id(llm_id, [llm]) for llm in llms.items):
                classes.report.warning(
                    (*classes.places[class_id], "work_prompt_template", "overrides", llm_id),
                    f"no LLM `{llm_id}` is listed, so nothing uses this template",
                    hint=name_hint(llm_id, llms.by_id),
                    code="unknown-llm",
                )


def check_placeholders(classes: Loaded[TestClass], tests: Loaded[Test]) -> None:
    """Note placeholders that no field fills, and templates that never show a test's text."""
    tests_of: dict[str, list[Test]] = defaultdict(list)
    for test in tests.items:
        tests_of[test.class_id].append(test)
    for class_id, test_class in classes.by_id.items():
        for place, template in _list_templates(test_class, classes.places[class_id]):
            _check_template(template, place, tests_of[class_id], classes.report)


def _list_templates(test_class: TestClass, place: Place) -> Iterator[tuple[Place, str]]:
    inside = (*place, "work_prompt_template")
    yield (*inside, "default"), test_class.templates["default"]
    for llm_id, template in test_class.overrides.items():
        yield (*inside, "overrides", llm_id), template


def _check_template(template: str, place: Place, tests: Sequence[Test], report: Report) -> None:
    names = list_placeholders(template)
    if not names:
        message = "this template has no placeholder, so its prompts never show a test's text"
        report.warning(place, message, hint="add {text}", code="no-placeholder")
    elif len(names) > 1 and not CONTENT_PLACEHOLDERS & set(names):
        message = "with several placeholders, none of them shows a test's text"
        report.warning(place, message, hint="add {text}", code="no-content-placeholder")
    unfilled: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        for name in list_unfilled_placeholders(template, test.fields):
            unfilled[name].append(test)
    for name, lacking in unfilled.items():
        report.error(
            place,
            f"nothing fills {{{name}}} in {len(lacking)} of {write_count(len(tests), 'test')}, "
            f"such as `{lacking[0].test_id}`",
            hint=_write_hint(name, tests),
            code="unfilled-placeholder",
        )


def _write_hint(name: str, tests: Sequence[Test]) -> str:
    known = CONTENT_PLACEHOLDERS.union(*(test.fields for test in tests))
    near = find_nearest_name(name, known)
    guess = f"did you mean {{{near}}}? Else put" if near else "put"
    return f"{guess} it into the tests' `fields`, or write {{{{{name}}}}} for the literal braces"


class CheckParameters(Protocol):
    """Checks parameters of evaluators."""

    def __call__(self, name: str, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
        """Describe what is wrong with parameters: place in them, message, hint."""

    def takes_any(self, name: str) -> bool:
        """True if an evaluator takes whatever parameters, so that none need a look."""


@dataclass(frozen=True, slots=True)
class EvaluatorChecks:
    """Checks of a workspace against the evaluators that there are.

    Attributes:
        known: Their names; None leaves names unchecked.
        check_parameters: None leaves parameters unchecked.
    """

    known: Collection[str] | None
    check_parameters: CheckParameters | None

    def check(self, classes: Loaded[TestClass], tests: Loaded[Test]) -> None:
        """Note evaluators that are missing or unknown, and parameters that they refuse."""
        for class_id, test_class in classes.by_id.items():
            if test_class.evaluator is not None:
                place = (*classes.places[class_id], "evaluation_module")
                self._check_name(test_class.evaluator, place, classes.report)
        takes_any = cache(self._takes_any)
        for test_id, test in tests.by_id.items():
            if test.class_id in classes.by_id:
                test_class = classes.by_id[test.class_id]
                spec = test.evaluator or test_class.evaluator
                if spec is None or not takes_any(spec.name):
                    self._check_test(test, test_class, tests.places[test_id], tests.report)

    def _takes_any(self, name: str) -> bool:
        checks = self.check_parameters
        return self._is_known(name) and (checks is None or checks.takes_any(name))

    def _check_test(self, test: Test, test_class: TestClass, place: Place, report: Report) -> None:
        try:
            spec = merge_specs(test_class.evaluator, test.evaluator)
        except ValueError:
            message = f"neither the test nor its class `{test_class.id}` names an evaluator"
            hint = 'add "evaluation_module": {"name": ...}'
            report.error(place, message, hint=hint, code="no-evaluator")
            return
        inside = (*place, "evaluation_module")
        if self._is_known(spec.name):
            self._check_parameters(spec, (*inside, "parameters"), report)
        elif test_class.evaluator is None or test_class.evaluator.name != spec.name:
            self._check_name(spec, inside, report)

    def _check_name(self, spec: EvaluatorSpec, place: Place, report: Report) -> None:
        if self._is_known(spec.name):
            return
        hint = name_hint(spec.name, self.known or ())
        message = f"unknown evaluator `{spec.name}`"
        report.error((*place, "name"), message, hint=hint, code="unknown-evaluator")

    def _check_parameters(self, spec: EvaluatorSpec, place: Place, report: Report) -> None:
        if self.check_parameters is None:
            return
        for where, message, hint in self.check_parameters(spec.name, spec.parameters):
            inner = (*place, *parse_place(where))
            report.error(inner, message, hint=hint, code="bad-parameter")

    def _is_known(self, name: str) -> bool:
        return self.known is None or name in self.known

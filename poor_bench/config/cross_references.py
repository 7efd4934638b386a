"""Check that the files of a workspace fit together: ids, placeholders, evaluators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poor_bench.config.nearest_name import name_hint, nearest_name
from poor_bench.config.report import Loaded, Place, Report, parse_place
from poor_bench.messages import write_count
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.prompts.render import (
    CONTENT_PLACEHOLDERS,
    list_placeholders,
    list_unfilled_placeholders,
)


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
        for place, template in _templates(test_class, classes.places[class_id]):
            _check_template(template, place, tests_of[class_id], classes.report)


def _templates(test_class: TestClass, place: Place) -> Iterator[tuple[Place, str]]:
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
            hint=_hint(name, tests),
            code="unfilled-placeholder",
        )


def _hint(name: str, tests: Sequence[Test]) -> str:
    known = CONTENT_PLACEHOLDERS.union(*(test.fields for test in tests))
    near = nearest_name(name, known)
    guess = f"did you mean {{{near}}}? Else put" if near else "put"
    return f"{guess} it into the tests' `fields`, or write {{{{{name}}}}} for the literal braces"


CheckParameters = Callable[[str, Mapping[str, Any]], Iterable[tuple[str, str, str]]]
"""Name and parameters of an evaluator to what is wrong: place in them, message, hint."""


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
        for test_id, test in tests.by_id.items():
            if test.class_id in classes.by_id:
                test_class = classes.by_id[test.class_id]
                self._check_test(test, test_class, tests.places[test_id], tests.report)

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

"""Check that the placeholders of templates and the texts and fields of tests fit together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from poor_bench.config.loaded import Loaded
from poor_bench.config.nearest_name import nearest_name
from poor_bench.config.report import Place, Report
from poor_bench.messages import counted
from poor_bench.models.test import Test, TestClass
from poor_bench.prompts.render import (
    CONTENT_PLACEHOLDERS,
    placeholders_of,
    unfilled_placeholders,
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
    names = placeholders_of(template)
    if not names:
        message = "this template has no placeholder, so its prompts never show a test's text"
        report.warning(place, message, hint="add {text}", code="no-placeholder")
    elif len(names) > 1 and not CONTENT_PLACEHOLDERS & set(names):
        message = "with several placeholders, none of them shows a test's text"
        report.warning(place, message, hint="add {text}", code="no-content-placeholder")
    unfilled: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        for name in unfilled_placeholders(template, test.fields):
            unfilled[name].append(test)
    for name, lacking in unfilled.items():
        report.error(
            place,
            f"nothing fills {{{name}}} in {len(lacking)} of {counted(len(tests), 'test')}, "
            f"such as `{lacking[0].test_id}`",
            hint=_hint(name, tests),
            code="unfilled-placeholder",
        )


def _hint(name: str, tests: Sequence[Test]) -> str:
    known = CONTENT_PLACEHOLDERS.union(*(test.fields for test in tests))
    near = nearest_name(name, known)
    guess = f"did you mean {{{near}}}? Else put" if near else "put"
    return f"{guess} it into the tests' `fields`, or write {{{{{name}}}}} for the literal braces"

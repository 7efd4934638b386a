"""Check what one file of a workspace says of another."""

from __future__ import annotations

from poor_bench.config.loaded import Loaded
from poor_bench.config.nearest_name import name_hint
from poor_bench.config.placeholder_checks import check_placeholders
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.test import Test, TestClass


def check_references(classes: Loaded[TestClass], tests: Loaded[Test], llms: Loaded[LLM]) -> None:
    """Note, in the report of the file to mend, what does not fit together.

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

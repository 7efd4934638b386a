"""Decode test_classes.yaml and tests.json; small in memory, since there may be very many tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from poor_bench.config.document import Document
from poor_bench.config.entry_validation import entries_in, validate_entry, without_comments
from poor_bench.config.file_models import EvaluatorEntry, TestClassEntry, TestEntry
from poor_bench.config.report import Place, Report
from poor_bench.models.test import EvaluatorSpec, Test, TestClass


def decode_test_classes(document: Document, report: Report) -> Iterator[tuple[Place, TestClass]]:
    """Yield the valid test classes of a file with their places; the report takes the others."""
    for place, raw in entries_in(document, "test_classes", report):
        entry = validate_entry(TestClassEntry, raw, place, report)
        if entry is not None:
            yield place, _to_test_class(entry, _templates(raw, place, report))


def _templates(raw: dict[str, Any], place: Place, report: Report) -> dict[str, str]:
    templates = without_comments(raw["work_prompt_template"])
    templates.pop("overrides", None)
    for key, template in templates.items():
        if not isinstance(template, str):
            where = (*place, "work_prompt_template", key)
            report.error(where, "must be a text", code="bad-type")
    return templates


def _to_test_class(entry: TestClassEntry, templates: dict[str, str]) -> TestClass:
    evaluator = entry.evaluation_module
    return TestClass(
        id=entry.id,
        description=entry.description,
        system_prompt=entry.system_prompt,
        templates=templates,
        overrides=without_comments(entry.work_prompt_template.overrides),
        evaluator=None if evaluator is None else _to_spec(evaluator),
        response_schema=entry.response_schema,
        tags=tuple(entry.tags),
    )


def _to_spec(entry: EvaluatorEntry) -> EvaluatorSpec:
    return EvaluatorSpec(entry.name, without_comments(entry.parameters))


_NO_FIELDS: Mapping[str, Any] = {}
"""Shared by all tests that have none."""


def decode_tests(
    document: Document, classes: Mapping[str, TestClass], report: Report
) -> Iterator[tuple[Place, Test]]:
    """Yield the valid tests of a file with their places; the report takes the others.

    Args:
        document: The parsed file.
        classes: The test classes by id; a test that names no evaluator takes its class's.
        report: Takes what is wrong.
    """
    for place, raw in entries_in(document, "tests", report):
        entry = validate_entry(TestEntry, raw, place, report)
        if entry is not None and _has_one_content(entry, place, report):
            yield place, _to_test(entry, classes.get(entry.class_id))


def _has_one_content(entry: TestEntry, place: Place, report: Report) -> bool:
    if (entry.text is None) != (entry.texts is None):
        return True
    which = "neither `text` nor `texts`" if entry.text is None else "both `text` and `texts`"
    hint = "give exactly one of them; further placeholders go into `fields`"
    report.error(place, f"test `{entry.test_id}` has {which}", hint=hint, code="bad-content")
    return False


def _to_test(entry: TestEntry, test_class: TestClass | None) -> Test:
    return Test(
        test_id=entry.test_id,
        class_id=sys.intern(entry.class_id),
        level=entry.level,
        text=entry.text,
        texts=None if entry.texts is None else tuple(entry.texts),
        fields=without_comments(entry.fields) or _NO_FIELDS,
        evaluator=_choose_evaluator(entry, test_class),
        reference_response=entry.reference_response,
        tags=tuple(sys.intern(tag) for tag in entry.tags),
        enabled=entry.enabled,
        group=None if entry.group is None else sys.intern(entry.group),
        reported=entry.reported,
    )


def _choose_evaluator(entry: TestEntry, test_class: TestClass | None) -> EvaluatorSpec | None:
    written = entry.evaluation_module
    if written is None:
        return None
    of_class = test_class.evaluator if test_class else None
    name = written.name or (of_class.name if of_class else None)
    if name is None:
        return None
    return EvaluatorSpec(sys.intern(name), without_comments(written.parameters))

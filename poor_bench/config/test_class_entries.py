"""From test_classes.yaml to test classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poor_bench.config.document import Document
from poor_bench.config.entries import entries_in
from poor_bench.config.entry_validation import validate_entry
from poor_bench.config.file_models import EvaluatorEntry, TestClassEntry
from poor_bench.config.report import Place, Report
from poor_bench.config.unknown_keys import without_comments
from poor_bench.models.test import EvaluatorSpec, TestClass


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

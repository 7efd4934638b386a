"""From tests.json to tests; small in memory, since there may be very many."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from poor_bench.config.document import Document
from poor_bench.config.entries import entries_in
from poor_bench.config.entry_validation import validate_entry
from poor_bench.config.file_models import TestEntry
from poor_bench.config.report import Place, Report
from poor_bench.config.unknown_keys import without_comments
from poor_bench.models.test import EvaluatorSpec, Test, TestClass

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
        evaluator=_evaluator_of(entry, test_class),
        reference_response=entry.reference_response,
        tags=tuple(sys.intern(tag) for tag in entry.tags),
    )


def _evaluator_of(entry: TestEntry, test_class: TestClass | None) -> EvaluatorSpec | None:
    written = entry.evaluation_module
    if written is None:
        return None
    of_class = test_class.evaluator if test_class else None
    name = written.name or (of_class.name if of_class else None)
    if name is None:
        return None
    return EvaluatorSpec(sys.intern(name), without_comments(written.parameters))

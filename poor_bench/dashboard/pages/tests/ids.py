"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class TestsIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "tests-search-store"
    NOTE = "tests-note-text"
    TEXT = "tests-text-input"
    CLASSES = "tests-classes-body"
    CHIPS = "tests-chips-body"
    LISTED = "tests-listed-body"
    DETAILS = "tests-details-panel"
    WAIT = "tests-wait-interval"
    CSV = "tests-csv-button"
    CLASSES_CSV = "tests-classes-csv-button"
    DOWNLOAD = "tests-file-download"


class FormIds(StrEnum):
    """Types of the ids of the form, which is there only while a test is open."""

    TEXT = "tests-form-text-input"
    LEVEL = "tests-form-level-input"
    REFERENCE = "tests-form-reference-input"
    PARAMETERS = "tests-form-parameters-input"
    SAVE = "tests-form-save-button"
    TEMPLATE = "tests-form-template-input"
    SAVE_TEMPLATE = "tests-form-template-button"
    RESULT = "tests-form-result-body"


def form_id(kind: FormIds, test_id: str) -> dict[str, str]:
    """Return the id of a part of the form of a test."""
    return {"type": kind, "index": test_id}

"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class CompareIds(StrEnum):
    """What callbacks of the page refer to."""

    SEARCH = "compare-search-store"
    NOTE = "compare-note-text"
    LLMS = "compare-llms-select"
    TEXT = "compare-text-input"
    STRIP = "compare-strip-body"
    CLASSES = "compare-classes-body"
    CHIPS = "compare-chips-body"
    TESTS = "compare-tests-body"
    DETAILS = "compare-details-panel"
    WAIT = "compare-wait-interval"
    STRIP_CSV = "compare-strip-csv-button"
    CLASSES_CSV = "compare-classes-csv-button"
    TESTS_CSV = "compare-tests-csv-button"
    DOWNLOAD = "compare-file-download"

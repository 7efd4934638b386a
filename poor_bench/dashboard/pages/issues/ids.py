"""Element ids of the page."""

from __future__ import annotations

from enum import StrEnum


class IssuesIds(StrEnum):
    """Elements used by callbacks."""

    SEARCH = "issues-search-store"
    NOTE = "issues-note-text"
    LLMS = "issues-llms-select"
    CLASSES = "issues-classes-select"
    CHIPS = "issues-chips-body"
    GROUPS = "issues-groups-body"
    TAX = "issues-tax-body"
    WAIT = "issues-wait-interval"
    CSV = "issues-csv-button"
    TAX_CSV = "issues-tax-csv-button"
    DOWNLOAD = "issues-file-download"

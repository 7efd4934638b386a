"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class ModelIds(StrEnum):
    """What callbacks of the page refer to."""

    LLM = "model-llm-select"
    CLASSES = "model-classes-select"
    LEVELS = "model-levels-select"
    THINKS = "model-thinks-select"
    OUTCOME = "model-outcome-switch"
    TEXT = "model-text-input"
    ISSUE = "model-issue-store"
    """Id of the issue that the results are limited to; empty for all."""
    ISSUE_CHIP = "model-issue-chip"
    CLEAR = "model-clear-button"
    QUERY = "model-query-store"
    """The state of all filters as a query of the address."""
    SETTLED = "model-settled-store"
    """The same a moment later: what takes time to draw waits until the filters are chosen."""
    SORT = "model-sort-store"
    """Sorting of the table as AG Grid tells it."""
    NOTE = "model-note-text"
    TILES = "model-tiles-body"
    ISSUES = "model-issues-body"
    CHART = "model-chart-body"
    CHART_GRAPH = "model-chart-graph"
    CHART_PAGE = "model-chart-pagination"
    COUNT = "model-count-text"
    RESULTS = "model-results-grid"
    RESULTS_CSV = "model-results-csv-button"
    SELECTED = "model-selected-store"
    """The trial that is open: `[test id, trial, is failure]`."""
    DETAILS_TITLE = "model-details-title"
    DETAILS_POSITION = "model-details-position"
    DETAILS = "model-details-body"
    PREVIOUS = "model-previous-button"
    NEXT = "model-next-button"
    CLOSE = "model-close-button"
    DOWNLOAD = "model-file-download"
    EMPTY = "model-empty-body"
    BODY = "model-body-container"


ISSUE_ROW = "model-issue-row"
"""Type of the ids of issue rows; their index is the detector's id."""


def issue_row_id(detector_id: str) -> dict[str, str]:
    """Return the id of the row of one issue."""
    return {"type": ISSUE_ROW, "index": detector_id}

"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class SuitesIds(StrEnum):
    """Ids that callbacks refer to."""

    SEARCH = "suites-search-store"
    NOTE = "suites-note-text"
    CHIPS = "suites-chips-body"
    TILES = "suites-tiles-body"
    CASES = "suites-cases-body"
    TAGS = "suites-tags-body"
    REPLAY = "suites-replay-body"
    RUNS = "suites-runs-body"
    TRENDS = "suites-trends-body"
    CASES_CSV = "suites-cases-csv-button"
    RUNS_CSV = "suites-runs-csv-button"
    DOWNLOAD = "suites-file-download"

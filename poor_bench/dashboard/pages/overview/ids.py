"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class OverviewIds(StrEnum):
    """What callbacks of the page refer to."""

    EMPTY = "overview-empty-body"
    BODY = "overview-body-container"
    NOTE = "overview-note-text"
    LEADERBOARD = "overview-leaderboard-grid"
    LEADERBOARD_BODY = "overview-leaderboard-body"
    LEADERBOARD_CSV = "overview-leaderboard-csv-button"
    HEAT_MAP = "overview-heat-map-body"
    HEAT_MAP_LEVELS = "overview-heat-map-levels-switch"
    HEAT_MAP_CSV = "overview-heat-map-csv-button"
    CHANGES = "overview-changes-body"
    CHARTS = "overview-charts-body"
    CHARTS_SEEN = "overview-charts-seen-store"
    DOWNLOAD = "overview-file-download"

"""Ids of the page."""

from __future__ import annotations

from enum import StrEnum


class RunIds(StrEnum):
    """What callbacks of the page refer to."""

    LLMS = "run-llms-select"
    CLASSES = "run-classes-select"
    LEVELS = "run-levels-select"
    TESTS = "run-tests-input"
    TRIALS = "run-trials-input"
    FORCE = "run-force-switch"
    ALL = "run-all-button"
    PREVIEW = "run-preview-body"
    START = "run-start-button"
    SANDBOX = "run-sandbox-banner"
    FAILURES_FRAME = "run-failures-frame"
    FAILURES_HEAD = "run-failures-head"
    FAILURES = "run-failures-body"
    FAILURES_CSV = "run-failures-csv-button"
    PREVIEW_CSV = "run-preview-csv-button"
    DOWNLOAD = "run-file-download"
    RETRY = "run-retry-button"
    FRAME = "run-state-frame"
    HEAD = "run-state-head"
    STATE = "run-state-body"
    CLOCK = "run-clock-interval"
    PAUSE = "run-pause-button"
    RESUME = "run-resume-button"
    CANCEL = "run-cancel-button"

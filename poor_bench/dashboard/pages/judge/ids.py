"""Element ids of the page."""

from __future__ import annotations

from enum import StrEnum


class JudgeIds(StrEnum):
    """Elements used by callbacks."""

    SEARCH = "judge-search-store"
    NOTE = "judge-note-text"
    HEAD = "judge-head-body"
    SCORES = "judge-scores-body"
    CASES = "judge-cases-body"
    CASE = "judge-case-body"
    HISTORY = "judge-history-body"
    TRUST = "judge-trust-body"
    SCORES_CSV = "judge-scores-csv-button"
    CASES_CSV = "judge-cases-csv-button"
    RUNS_CSV = "judge-runs-csv-button"
    TRUST_CSV = "judge-trust-csv-button"
    DOWNLOAD = "judge-file-download"


class LabelIds(StrEnum):
    """Elements of the form for a person's score."""

    ABOUT = "judge-about-select"
    SCORE = "judge-score-input"
    WHO = "judge-who-input"
    NOTE = "judge-why-input"
    SAVE = "judge-save-button"
    RESULT = "judge-result-text"


class StartIds(StrEnum):
    """Elements of the start form and the active run."""

    AGENT = "judge-agent-select"
    JUDGES = "judge-judges-select"
    REPEAT = "judge-repeat-input"
    DECISION = "judge-decision-select"
    MAX_COST = "judge-cost-input"
    PREVIEW = "judge-preview-body"
    START = "judge-start-button"
    CANCEL = "judge-cancel-button"
    FRAME = "judge-run-frame"
    HEAD = "judge-run-head"
    BODY = "judge-run-body"
    CLOCK = "judge-clock-interval"

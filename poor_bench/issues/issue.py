"""One finding, and findings of one cause together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much an issue matters."""

    HIGH = "high"
    """Tests failed, or figures are not reliable."""
    MEDIUM = "medium"
    """Costs score."""
    LOW = "low"
    """Worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One detector's finding about one trial."""

    detector_id: str
    llm_id: str
    test_id: str
    trial: int
    evidence: str
    """Evidence as plain text of about 200 characters; may quote the model."""
    lost_score: float
    """Lost score for this cause, 0.0 to 1.0; charged to one issue only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueGroup:
    """All findings of one detector."""

    detector_id: str
    title: str
    severity: Severity
    meaning: str
    advice: str
    n_trials: int
    n_by_llm: dict[str, int]
    """Most affected LLM first."""
    lost_score: float
    """Lost score of all trials for this cause."""
    lost_share: float
    """Share of all lost score, 0.0 to 1.0; the shares of all groups add up to one."""
    examples: tuple[Issue, ...]
    """A few findings, of different LLMs as far as possible."""

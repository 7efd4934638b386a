"""Reasons for the end of a search."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """Reason for the end of a search."""

    FINISHED = "finished"
    """Everything planned was run."""
    THRESHOLD = "threshold"
    """The target score is reached."""
    NO_GAIN = "no_gain"
    """No gain in the last rounds."""
    BUDGET = "budget"
    """The call budget is used up."""
    COST = "cost"
    """The next step would exceed the cost limit."""
    LLM_FAILED = "llm_failed"
    """A model cannot be reached, or its answers cannot be scored."""
    CANCELLED = "cancelled"
    """The user stopped it."""

    @property
    def can_go_on(self) -> bool:
        """True if the same search can continue."""
        return self in _UNFINISHED


_UNFINISHED = frozenset(
    {StopReason.BUDGET, StopReason.COST, StopReason.LLM_FAILED, StopReason.CANCELLED}
)


class SearchStoppedError(Exception):
    """A search cannot continue; its results so far are stored.

    Attributes:
        reason: Why.
    """

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

"""Why a search ends."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """Why a search ended."""

    FINISHED = "finished"
    """All that was to be tried was tried."""
    THRESHOLD = "threshold"
    """The score that the user wants is reached."""
    NO_GAIN = "no_gain"
    """Nothing better was found for a while."""
    BUDGET = "budget"
    """The calls that were allowed are used up."""
    COST = "cost"
    """The money that was allowed is used up."""
    LLM_FAILED = "llm_failed"
    """An LLM could not be asked, or what it said could not be scored."""
    CANCELLED = "cancelled"
    """The user stopped it."""

    @property
    def can_go_on(self) -> bool:
        """Whether the same search would go on if it were started again."""
        return self in _UNFINISHED


_UNFINISHED = frozenset(
    {StopReason.BUDGET, StopReason.COST, StopReason.LLM_FAILED, StopReason.CANCELLED}
)


class SearchStoppedError(Exception):
    """A search cannot go on; what it found so far is kept.

    Attributes:
        reason: Why.
    """

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason

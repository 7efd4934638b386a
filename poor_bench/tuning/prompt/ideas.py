"""Sources of prompts, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from poor_bench.tuning.prompt.cases import Attempt, Idea, Ideas


class IdeaSource(StrEnum):
    """Where new prompts come from."""

    WRITER = "writer"
    """An LLM writes them."""
    EDITS = "edits"
    """Edits by rule, without requests."""
    BOTH = "both"
    """By turns."""


class TakingTurns:
    """Asks several sources by turns; one that has no idea leaves its turn to the next."""

    def __init__(self, sources: Sequence[Ideas]) -> None:
        self._sources = sources
        self._turn = 0

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """First idea of any source, or None."""
        first = self._turn % len(self._sources)
        self._turn += 1
        for source in (*self._sources[first:], *self._sources[:first]):
            idea = source.propose(text, attempts)
            if idea is not None:
                return idea
        return None

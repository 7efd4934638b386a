"""Notices when an agent goes in circles; pure."""

from __future__ import annotations

from collections import Counter

WARN_AFTER = 3
GIVE_UP_AFTER = 5


class LoopWatch:
    """Counts how often the same action was chosen on a page that looks the same."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, int]] = Counter()

    def note(self, action: str, page: int) -> int:
        """Note an action on a page, by its fingerprint; return how often it was chosen there."""
        self._seen[action, page] += 1
        return self._seen[action, page]

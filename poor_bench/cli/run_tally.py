"""Running figures of one LLM during a run."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.models.result import Result

_MINUTE_S, _HOUR_S = 60, 3600


@dataclass(slots=True)
class LLMTally:
    """Counts the trials of one LLM as they end."""

    n_items: int
    n_scored: int = 0
    n_failed: int = 0
    n_answered: int = 0
    """Responses that a judge gets to see later."""
    score_sum: float = 0.0
    tokens: int = 0
    busy_ms: float = 0.0
    first_at: float | None = None
    """When the first trial ended, on any clock in seconds."""

    @property
    def n_done(self) -> int:
        """Trials that ended, with a score or without."""
        return self.n_scored + self.n_failed

    def add(self, result: Result) -> None:
        """Count one trial that ended."""
        if result.failure is not None:
            self.n_failed += 1
            return
        self.n_scored += 1
        self.score_sum += result.score or 0.0
        self.tokens += result.completion_tokens or 0
        self.busy_ms += result.execution_time_ms or 0.0

    def seconds_left(self, now: float) -> float | None:
        """Estimate when all trials will have ended, from the pace since the first one ended.

        Args:
            now: On the clock of `first_at`.
        """
        n_left, n_timed = self.n_items - self.n_done, self.n_done - 1
        if self.first_at is None or n_timed < 1 or n_left < 1:
            return None
        return (now - self.first_at) / n_timed * n_left

    def figures(self) -> str:
        """Return score so far, tokens per second and failures as a short text."""
        parts = []
        if self.n_scored:
            parts.append(f"score {self.score_sum / self.n_scored:.2f}")
        if self.tokens and self.busy_ms:
            parts.append(f"{self.tokens / (self.busy_ms / 1000):.0f} tokens/s")
        if self.n_failed:
            parts.append(f"{self.n_failed} failed")
        if n_waiting := max(0, self.n_answered - self.n_done):
            parts.append(f"{n_waiting} waiting for the judge")
        return "  ".join(parts)


def time_left_text(seconds: float) -> str:
    """Write an estimated duration as people say it.

    Example:
        >>> time_left_text(7), time_left_text(95), time_left_text(5000)
        ('about 7 s left', 'about 2 min left', 'about 1.4 h left')
    """
    if seconds < _MINUTE_S:
        return f"about {max(1, seconds):.0f} s left"
    if seconds < _HOUR_S:
        return f"about {seconds / _MINUTE_S:.0f} min left"
    return f"about {seconds / _HOUR_S:.1f} h left"

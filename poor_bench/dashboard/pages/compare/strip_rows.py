"""The comparison of the LLMs as rows of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poor_bench.dashboard.pages.compare.strip import StripLine

_FIELDS = (
    "llm_id", "score", "low", "high", "strict_score", "difference", "difference_low",
    "difference_high", "won", "tied", "lost", "p_adjusted", "is_real", "tie_group",
    "execution_time_ms", "tokens_per_s", "generation_tokens_per_s", "failed",
)  # fmt: skip
STRIP_COLUMNS = tuple((name, name) for name in _FIELDS)


def strip_rows(lines: Sequence[StripLine]) -> list[dict[str, Any]]:
    """Return one row per LLM; what is not known is missing."""
    return [_row(line) for line in lines]


def _row(line: StripLine) -> dict[str, Any]:
    row: dict[str, Any] = {"llm_id": line.llm_id, "tie_group": line.letters}
    summary, against = line.summary, line.against
    if summary is not None and summary.score is not None:
        score = summary.score
        row |= {"score": score.value, "low": score.low, "high": score.high}
        row |= {"strict_score": summary.strict_score, "tokens_per_s": summary.tokens_per_s}
        row["generation_tokens_per_s"] = summary.generation_tokens_per_s
    if summary is not None:
        row["failed"] = summary.n_failed
    if against is not None:
        seen = against.difference
        row |= {"difference": seen.value, "difference_low": seen.low, "difference_high": seen.high}
        row |= {"won": against.n_won, "tied": against.n_tied, "lost": against.n_lost}
        row |= {"p_adjusted": against.p_adjusted, "is_real": against.is_real}
    if line.time is not None:
        row["execution_time_ms"] = line.time.mean_ms
    return row

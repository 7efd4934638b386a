"""The scores by dimension that a judge gave an answer, as they are stored beside its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerParts:
    """What the usable judgements of one answer say together."""

    judge: str
    scores: Mapping[str, float]
    """Dimension to its mean score, 0.0 to 10.0."""
    n: int
    """Judgements that the means are over."""
    n_failed: int
    """Judgements without a score; they are in no mean."""


def read_answer_parts(record: Mapping[str, Any] | None) -> AnswerParts | None:
    """Read the parts of a stored judgement; None where no judgement has scores.

    Example:
        >>> usable = {"scores": {"tone": 8.0}, "judge": "a:b"}
        >>> failed = {"scores": {"tone": 0.0}, "is_fallback": True}
        >>> parts = read_answer_parts({"samples": [failed, usable]})
        >>> parts.scores, parts.n, parts.n_failed
        ({'tone': 8.0}, 1, 1)
    """
    stored = (record or {}).get("samples")
    samples = (
        [each for each in stored if isinstance(each, dict)] if isinstance(stored, list) else []
    )
    usable = [each for each in samples if not each.get("is_fallback") and _read_scores(each)]
    if not usable:
        return None
    scores = [_read_scores(each) for each in usable]
    names = [name for name in scores[0] if all(name in each for each in scores)]
    return AnswerParts(
        judge=str((record or {}).get("judge") or usable[0].get("judge") or ""),
        scores={name: fmean(each[name] for each in scores) for name in names},
        n=len(usable),
        n_failed=len(samples) - len(usable),
    )


def _read_scores(sample: Mapping[str, Any]) -> dict[str, float]:
    scores = sample.get("scores")
    known = scores.items() if isinstance(scores, dict) else ()
    return {
        str(name): float(score)
        for name, score in known
        if isinstance(score, int | float) and not isinstance(score, bool)
    }

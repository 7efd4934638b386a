"""What an evaluator may ask for beside response and parameters: other evaluators, a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from poor_bench.scoring.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """Handed to an evaluator whose `evaluate` takes a keyword argument `context`."""

    evaluate_by_name: Callable[[str, str, Mapping[str, Any]], Verdict]
    """Score a response with another evaluator: its name, the response, its parameters."""


LARGEST_SCORE = 10.0
"""Judges score from 0 to this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuestion:
    """What an evaluator wants to know of a response."""

    judge: str = ""
    """Id of the LLM that judges; the workspace's own judge where empty."""
    rubric: str = ""
    """Markdown, or the path of a `.md` file in the workspace."""
    criteria: tuple[str, ...] = ()
    """What a good response does, each as a dimension of the same weight; where no rubric is."""
    expected_behavior: str = ""
    samples: int = 1
    """How often the judge is asked, at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnswer:
    """What the judge said, the mean of all samples; scores from 0.0 to 10.0."""

    overall_score: float
    scores: Mapping[str, float]
    """Dimension to score."""
    feedback: tuple[str, ...] = ()
    """One text per sample."""
    spread: float | None = None
    """Largest minus smallest overall score of the samples; None where there is one sample."""
    judge: str = ""
    """Id of the LLM that judged."""
    is_self_judged: bool = False
    """The judge is the model that wrote the response."""
    warnings: tuple[str, ...] = field(default=())


class AskJudge(Protocol):
    """Handed to an evaluator whose `evaluate` takes a keyword argument `judge`."""

    def __call__(self, response: str, question: JudgeQuestion) -> JudgeAnswer:
        """Ask the judge about a response; what the response answers to is known here.

        Raises:
            RecordedError: If there is no judgement; it becomes a failure, never a score.
        """

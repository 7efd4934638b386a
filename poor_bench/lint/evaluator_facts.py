"""What the checks want to know of evaluators, so that they need none themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from poor_bench.models.evaluator_spec import EvaluatorSpec
from poor_bench.scoring.answer_format import AnswerFormat


@dataclass(frozen=True, slots=True)
class JudgeFault:
    """Why a judge or a rubric cannot be used."""

    message: str
    hint: str


class EvaluatorFacts(Protocol):
    """Answers questions about the evaluators of a workspace."""

    def wants(self, spec: EvaluatorSpec) -> AnswerFormat | None:
        """Return the format that the prompt should ask for; None where the evaluator is silent."""

    def reference(self, spec: EvaluatorSpec) -> str | None:
        """Return a response that scores 1.0; None where the evaluator cannot tell one."""

    def is_judged(self, spec: EvaluatorSpec) -> bool:
        """Return whether an LLM judges the responses, so that checking a score costs money."""

    def judge_faults(self, spec: EvaluatorSpec) -> Sequence[JudgeFault]:
        """Return why the judges and rubrics of an evaluator cannot be used; missing keys apart."""

    def score(self, spec: EvaluatorSpec, response: str) -> float:
        """Return the score of a response.

        Raises:
            RecordedError: If it could not be scored.
        """

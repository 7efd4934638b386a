"""GEPA's view of our tests: it steers, we ask, score and write.

GEPA goes on to its next candidate after an exception of ours. That is what a case that could not
be tried calls for, since it must not count as zero; every other exception is kept here and ends
the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.tuning.prompt.attempts import Attempts
from poor_bench.tuning.prompt.cases import Attempt, CaseFailedError, Idea, Ideas

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

COMPONENT = "prompt"
"""The one part of a candidate."""

_Made = TypeVar("_Made")


class GepaAdapter:
    """Implements `gepa.GEPAAdapter` for cases that are named by their ids."""

    def __init__(
        self, attempts: Attempts, ideas: Ideas, learn: Callable[[Sequence[Attempt]], None]
    ) -> None:
        """Try and propose nothing yet.

        Args:
            attempts: Tries prompts on cases.
            ideas: Has other prompts.
            learn: Told of every attempt.
        """
        self._attempts = attempts
        self._ideas = ideas
        self._learn = learn
        self._origins: dict[str, str] = {}
        self.ended_by: Exception | None = None
        """Errors that end the search."""

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Attempt, Attempt]:
        """Try a candidate on some cases.

        Raises:
            CaseFailedError: If a case could not be tried.
        """
        from gepa.core.adapter import EvaluationBatch

        attempts = self.guarded(lambda: self._attempts.of(candidate[COMPONENT], batch))
        self._learn(attempts)
        return EvaluationBatch(
            outputs=attempts,
            scores=[attempt.score for attempt in attempts],
            trajectories=attempts if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Attempt, Attempt],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Attempts for the next candidate."""
        return {COMPONENT: [{"attempt": attempt} for attempt in eval_batch.outputs]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Propose the next candidate; the old one without a new idea."""
        text = candidate[COMPONENT]
        attempts = [row["attempt"] for row in reflective_dataset[COMPONENT]]
        idea = self.guarded(lambda: self._ideas.propose(text, attempts)) or Idea(text, "")
        self._origins.setdefault(idea.text, idea.made_by)
        return {COMPONENT: idea.text}

    def origin_of(self, text: str) -> str:
        """Origin of a candidate; empty for the current prompt."""
        return self._origins.get(text, "")

    def guarded(self, make: Callable[[], _Made]) -> _Made:
        """Propose a text and keep errors, which GEPA would drop.

        Raises:
            CaseFailedError: As `make`; the search goes on after it.
            Exception: As `make`, now or before; it ends the search.
        """
        if self.ended_by is not None:
            raise self.ended_by
        try:
            return make()
        except CaseFailedError:
            raise
        except Exception as error:
            self.ended_by = error
            raise

"""GEPA's view of our tests: it steers, we ask, score and write.

GEPA goes on to its next candidate after an exception of ours. That is what a case that could not
be tried calls for, since it must not count as zero; every other exception is kept here and ends
the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.tuning.prompt.attempts import Attempts
from poor_bench.tuning.prompt.cases import Attempt, CaseFailedError
from poor_bench.tuning.prompt.proposer import Proposer
from poor_bench.tuning.prompt.reflection import example_of

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

COMPONENT = "prompt"
"""The one part of a candidate."""

_Made = TypeVar("_Made")


class GepaAdapter:
    """Implements `gepa.GEPAAdapter` for cases that are named by their ids."""

    def __init__(self, attempts: Attempts, proposer: Proposer) -> None:
        self._attempts = attempts
        self._proposer = proposer
        self.ended_by: Exception | None = None
        """What the search cannot go on after."""

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Attempt, Attempt]:
        """Try a candidate on some cases.

        Raises:
            CaseFailedError: If a case could not be tried.
        """
        from gepa.core.adapter import EvaluationBatch

        attempts = self.guarded(lambda: self._attempts.of(candidate[COMPONENT], batch))
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
        """Return what the reflecting LLM gets to see of the attempts, the worst first."""
        worst_first = sorted(eval_batch.outputs, key=lambda attempt: attempt.score)
        return {COMPONENT: [example_of(attempt) for attempt in worst_first]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return the next candidate."""
        examples = reflective_dataset[COMPONENT]
        text = self.guarded(lambda: self._proposer.propose(candidate[COMPONENT], examples))
        return {COMPONENT: text}

    def guarded(self, make: Callable[[], _Made]) -> _Made:
        """Return what is made; remember what went wrong, since GEPA forgets it.

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

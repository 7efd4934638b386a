"""Search for a better prompt with GEPA: it steers, we ask, score and write.

GEPA goes on to its next candidate after an exception of ours. That is what a case that could not
be tried calls for, since it must not count as zero; every other exception is kept here and ends
the search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.errors import RunCancelledError
from poor_bench.extras import import_extra
from poor_bench.tuning.prompt.cases import (
    Attempt,
    Attempts,
    CaseFailedError,
    Idea,
    Ideas,
    Split,
    hash_candidate,
)
from poor_bench.tuning.searches import SearchStoppedError, StopReason, find_reason

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch
    from gepa.core.callbacks import ValsetEvaluatedEvent
    from gepa.core.state import GEPAState


COMPONENT = "prompt"
"""The one part of a candidate."""

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A prompt that was good enough to be tried on all validation cases."""

    key: str
    text: str
    parents: tuple[str, ...]
    """Keys of the candidates it was made from; empty for the prompt in use."""
    score: float
    """Mean over the validation cases."""
    made_by: str = ""
    """Such as `writer`, or the edit; empty for the prompt in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEffort:
    """Settings of a search."""

    seed: int = 0
    threshold: float = 1.0
    """Mean score on the validation cases that is good enough, 0.0 to 1.0."""
    patience: int = 8
    """Rounds without a better candidate before the search ends, at least 1."""
    n_examples: int = 3
    """Training cases that a new prompt is written from, at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEnd:
    """Result of a search."""

    candidates: tuple[Candidate, ...]
    """In the order in which they were found; the first is the prompt in use."""
    reason: StopReason
    message: str = ""

    @property
    def base(self) -> Candidate | None:
        """The prompt in use; None where it could not be tried."""
        return self.candidates[0] if self.candidates else None

    @property
    def best(self) -> Candidate | None:
        """The highest score; of equal ones the first found."""
        return max(self.candidates, key=lambda candidate: candidate.score, default=None)


class PromptSearch:
    """One search with GEPA: its adapter (`gepa.GEPAAdapter`, cases are their ids) and callback."""

    def __init__(
        self,
        attempts: Attempts,
        ideas: Ideas,
        split: Split,
        effort: SearchEffort,
        *,
        learn: Callable[[Sequence[Attempt]], None],
        found: Callable[[Candidate], None],
    ) -> None:
        """Prepare a search.

        Args:
            attempts: Tries prompts on cases.
            ideas: Has other prompts.
            split: Training and validation cases.
            effort: When to end.
            learn: Told of every attempt.
            found: Told of each candidate.
        """
        self._attempts = attempts
        self._ideas = ideas
        self._split = split
        self._effort = effort
        self._learn = learn
        self._found = found
        self._origins: dict[str, str] = {}
        self._candidates: list[Candidate] = []
        self._best_at = 0
        self._ended_by: Exception | None = None

    def run(self, base_text: str) -> SearchEnd:
        """Search from a prompt; blocks until something ends the search.

        Raises:
            PoorBenchError: If a file could not be written, or an LLM's settings cannot be used.
        """
        optimize = _import_gepa()
        try:
            optimize(
                seed_candidate={COMPONENT: base_text},
                trainset=list(self._split.train),
                valset=list(self._split.validation),
                adapter=self,
                reflection_minibatch_size=min(self._effort.n_examples, len(self._split.train)),
                seed=self._effort.seed,
                stop_callbacks=self._is_over,
                callbacks=[self],
                logger=_Silence(),
                raise_on_exception=False,
            )
        except CaseFailedError as error:
            return self._end(StopReason.LLM_FAILED, f"cannot test the current prompt: {error}")
        except (SearchStoppedError, RunCancelledError) as error:
            self._ended_by = error
        if self._ended_by is None:
            return self._end(StopReason.THRESHOLD if self._is_good_enough else StopReason.NO_GAIN)
        reason = find_reason(self._ended_by)
        if reason is None:
            raise self._ended_by
        return self._end(reason, "" if reason is StopReason.CANCELLED else str(self._ended_by))

    def evaluate(
        self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Attempt, Attempt]:
        """Try a candidate on some cases; called by GEPA.

        Raises:
            CaseFailedError: If a case could not be tried.
        """
        from gepa.core.adapter import EvaluationBatch

        attempts = self._guard(lambda: self._attempts.run(candidate[COMPONENT], batch))
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
        """Select the attempts for the next candidate; called by GEPA."""
        return {COMPONENT: [{"attempt": attempt} for attempt in eval_batch.outputs]}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Propose the next candidate; the old one without a new idea; called by GEPA."""
        text = candidate[COMPONENT]
        attempts = [row["attempt"] for row in reflective_dataset[COMPONENT]]
        idea = self._guard(lambda: self._ideas.propose(text, attempts)) or Idea(text, "")
        self._origins.setdefault(idea.text, idea.made_by)
        return {COMPONENT: idea.text}

    def on_valset_evaluated(self, event: ValsetEvaluatedEvent) -> None:
        """Take a candidate that was tried on all validation cases; called by GEPA."""
        self._guard(lambda: self._take(event))

    def _take(self, event: ValsetEvaluatedEvent) -> None:
        text, score = event["candidate"][COMPONENT], event["average_score"]
        candidate = Candidate(
            key=hash_candidate(text),
            text=text,
            parents=tuple(self._candidates[number].key for number in event["parent_ids"]),
            score=score,
            made_by=self._origins.get(text, ""),
        )
        if not self._candidates or score > max(known.score for known in self._candidates):
            self._best_at = event["iteration"]
        self._candidates.append(candidate)
        self._found(candidate)

    def _guard(self, make: Callable[[], _Made]) -> _Made:
        """Make something for GEPA and keep errors, which it would drop.

        Raises:
            CaseFailedError: As `make`; the search goes on after it.
            Exception: As `make`, now or before; it ends the search.
        """
        if self._ended_by is not None:
            raise self._ended_by
        try:
            return make()
        except CaseFailedError:
            raise
        except Exception as error:
            self._ended_by = error
            raise

    def _is_over(self, state: GEPAState[Any, Any]) -> bool:
        is_stuck = state.i + 1 - self._best_at >= self._effort.patience
        return self._ended_by is not None or self._is_good_enough or is_stuck

    @property
    def _is_good_enough(self) -> bool:
        return any(known.score >= self._effort.threshold for known in self._candidates)

    def _end(self, reason: StopReason, message: str = "") -> SearchEnd:
        return SearchEnd(candidates=tuple(self._candidates), reason=reason, message=message)


class _Silence:
    """Discards GEPA's log; its callbacks report what matters."""

    def log(self, message: str) -> None:
        """Drop a line."""


def require_gepa() -> None:
    """Check that GEPA is installed.

    Raises:
        MissingExtraError: If it is not.
    """
    import_extra("gepa.api", "`tune prompt` needs", "gepa>=0.1.4,<0.2")


def _import_gepa() -> Callable[..., object]:
    """GEPA's entry point without its types, which require optional parts."""
    from gepa.api import optimize

    return optimize

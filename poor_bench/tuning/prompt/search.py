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
from poor_bench.tuning.prompt.attempts import Attempts, text_key
from poor_bench.tuning.prompt.cases import Attempt, CaseFailedError, Idea, Ideas, Split
from poor_bench.tuning.searches import SearchStoppedError, StopReason, find_reason

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch
    from gepa.core.callbacks import ValsetEvaluatedEvent
    from gepa.core.state import GEPAState


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

    def as_record(self) -> dict[str, Any]:
        """Convert the candidate to its record in a file."""
        return {
            "key": self.key,
            "text": self.text,
            "parents": list(self.parents),
            "score": self.score,
            "made_by": self.made_by,
        }


def candidate_of(record: Mapping[str, Any]) -> Candidate:
    """Read a candidate from its record."""
    return Candidate(**{**record, "parents": tuple(record["parents"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
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
    """One search with GEPA."""

    def __init__(
        self,
        adapter: GepaAdapter,
        split: Split,
        effort: Effort,
        found: Callable[[Candidate], None],
    ) -> None:
        """Prepare a search.

        Args:
            adapter: Tries and proposes.
            split: Training and validation cases.
            effort: When to end.
            found: Told of each candidate.
        """
        self._adapter = adapter
        self._split = split
        self._effort = effort
        self._found = found
        self._candidates: list[Candidate] = []
        self._best_at = 0

    def run(self, base_text: str) -> SearchEnd:
        """Search from a prompt; blocks until something ends the search.

        Raises:
            PoorBenchError: If a file could not be written, or an LLM's settings cannot be used.
        """
        optimize = _gepa_optimize()
        try:
            optimize(
                seed_candidate={COMPONENT: base_text},
                trainset=list(self._split.train),
                valset=list(self._split.validation),
                adapter=self._adapter,
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
            self._adapter.ended_by = error
        return self._outcome(self._adapter.ended_by)

    def on_valset_evaluated(self, event: ValsetEvaluatedEvent) -> None:
        """Take a candidate that GEPA tried on all validation cases."""
        self._adapter.guarded(lambda: self._take(event))

    def _take(self, event: ValsetEvaluatedEvent) -> None:
        parents = tuple(self._candidates[number].key for number in event["parent_ids"])
        text = event["candidate"][COMPONENT]
        score = event["average_score"]
        candidate = Candidate(
            key=text_key(text),
            text=text,
            parents=parents,
            score=score,
            made_by=self._adapter.origin_of(text),
        )
        if not self._candidates or score > max(known.score for known in self._candidates):
            self._best_at = event["iteration"]
        self._candidates.append(candidate)
        self._found(candidate)

    def _is_over(self, state: GEPAState[Any, Any]) -> bool:
        return (
            self._adapter.ended_by is not None
            or self._is_good_enough
            or state.i + 1 - self._best_at >= self._effort.patience
        )

    @property
    def _is_good_enough(self) -> bool:
        return any(known.score >= self._effort.threshold for known in self._candidates)

    def _outcome(self, ended_by: Exception | None) -> SearchEnd:
        if ended_by is None:
            return self._end(StopReason.THRESHOLD if self._is_good_enough else StopReason.NO_GAIN)
        reason = find_reason(ended_by)
        if reason is None:
            raise ended_by
        return self._end(reason, "" if reason is StopReason.CANCELLED else str(ended_by))

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


def _gepa_optimize() -> Callable[..., object]:
    """GEPA's entry point without its types, which require optional parts."""
    from gepa.api import optimize

    return optimize

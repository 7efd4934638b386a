"""The search: GEPA proposes prompts, we test them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.command_line import python_command
from poor_bench.errors import CostLimitError, MissingExtraError, RunCancelledError
from poor_bench.tuning.prompt.attempts import text_key
from poor_bench.tuning.prompt.cases import CaseFailedError
from poor_bench.tuning.prompt.gepa_adapter import COMPONENT, GepaAdapter
from poor_bench.tuning.prompt.split import Split
from poor_bench.tuning.stopping import SearchStoppedError, StopReason

if TYPE_CHECKING:
    from gepa.core.callbacks import ValsetEvaluatedEvent
    from gepa.core.state import GEPAState


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
        if isinstance(ended_by, SearchStoppedError):
            return self._end(ended_by.reason, str(ended_by))
        if isinstance(ended_by, CostLimitError):
            return self._end(StopReason.COST, str(ended_by))
        if isinstance(ended_by, RunCancelledError):
            return self._end(StopReason.CANCELLED)
        if ended_by is not None:
            raise ended_by
        return self._end(StopReason.THRESHOLD if self._is_good_enough else StopReason.NO_GAIN)

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
    try:
        importlib.import_module("gepa.api")
    except ImportError as error:
        raise MissingExtraError(
            "`tune prompt` needs the package gepa",
            hint=python_command("-m pip install", "gepa>=0.1.4,<0.2"),
        ) from error


def _gepa_optimize() -> Callable[..., object]:
    """GEPA's entry point without its types, which require optional parts."""
    from gepa.api import optimize

    return optimize

"""What is to be seen of a run: immutable, safe to hand to any thread."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from poor_bench.runner.rescore import Move
from poor_bench.runner.selection import Selection


class RunPhase(StrEnum):
    """How far a run is."""

    IDLE = "idle"
    """There was none since the dashboard started, and the one before is complete."""
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    BROKEN = "broken"
    """It could not start or had to stop; the message says why."""
    INTERRUPTED = "interrupted"
    """Another process ran it, and it stopped before its end; what it stored is kept."""


class RunWay(StrEnum):
    """How a run gets its answers."""

    LIVE = "live"
    BATCH = "batch"
    """It submits the trials as batches, and ends."""
    COLLECT = "collect"
    """It fetches and scores the answers of batches that are done."""


class LLMPhase(StrEnum):
    """What an LLM of a run is doing."""

    WAITING = "waiting"
    LOADING = "loading"
    RUNNING = "running"
    JUDGING = "judging"
    """It has answered; its responses wait for a judge."""
    FINISHED = "finished"
    UNAVAILABLE = "unavailable"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


ACTIVE_PHASES = frozenset({RunPhase.STARTING, RunPhase.RUNNING, RunPhase.PAUSED, RunPhase.STOPPING})
STOPPED_PHASES = frozenset({RunPhase.CANCELLED, RunPhase.BROKEN, RunPhase.INTERRUPTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMProgress:
    """How far one LLM is."""

    llm_id: str
    n_items: int
    phase: LLMPhase = LLMPhase.WAITING
    n_scored: int = 0
    n_failed: int = 0
    score_sum: float = 0.0
    tokens: int = 0
    busy_ms: float = 0.0
    """Time that the tokens took."""
    active_s: float = 0.0
    """Seconds since its first trial was asked."""
    limits: str = ""
    """Requests at once and a second, where the run searches them."""

    @property
    def n_done(self) -> int:
        """Trials that ended, with a score or without."""
        return self.n_scored + self.n_failed

    @property
    def score(self) -> float | None:
        """Mean score so far."""
        return self.score_sum / self.n_scored if self.n_scored else None

    @property
    def tokens_per_s(self) -> float | None:
        """Generated tokens per second so far."""
        return self.tokens / (self.busy_ms / 1000) if self.tokens and self.busy_ms else None

    @property
    def seconds_left(self) -> float | None:
        """Time until it ends at the present pace; None while there is none."""
        if self.phase in {LLMPhase.FINISHED, LLMPhase.UNAVAILABLE}:
            return 0.0
        if not self.n_done or not self.active_s:
            return None
        return self.active_s / self.n_done * (self.n_items - self.n_done)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Something that went wrong in a run; the same reason is kept once."""

    llm_id: str
    test_id: str
    """Where it happened first; empty where it concerns the LLM as a whole."""
    kind: str
    message: str
    n_times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """One look at a run."""

    phase: RunPhase = RunPhase.IDLE
    run_id: str = ""
    llms: tuple[LLMProgress, ...] = ()
    errors: tuple[RunError, ...] = ()
    n_rescored: int = 0
    """Stored responses that have a new score, since their evaluator changed."""
    n_first_scored: int = 0
    """Stored responses that had no score, such as those of an interrupted run."""
    n_not_rescored: int = 0
    """Stored responses that could not be scored again; the errors say why."""
    n_moved: int = 0
    """Scores that changed by that."""
    moves: tuple[Move, ...] = ()
    """The first of them."""
    elapsed_s: float = 0.0
    message: str = ""
    selection: Selection | None = None
    """What was chosen; None where nobody knows."""
    is_foreign: bool = False
    """True if another process runs it: then it is only watched from here."""

    @property
    def is_active(self) -> bool:
        """True if the run goes on."""
        return self.phase in ACTIVE_PHASES

    @property
    def can_continue(self) -> bool:
        """True if the run stopped before its end and can be continued as it was."""
        is_stopped = self.phase in STOPPED_PHASES and not self.is_foreign
        return is_stopped and self.selection is not None

    @property
    def n_skipped(self) -> int:
        """Trials that an ended run did not reach, such as those of an unavailable model."""
        return self.n_items - self.n_done if self.phase is RunPhase.FINISHED else 0

    @property
    def n_items(self) -> int:
        """Trials of the run."""
        return sum(llm.n_items for llm in self.llms)

    @property
    def n_done(self) -> int:
        """Trials that ended, with a score or without."""
        return sum(llm.n_done for llm in self.llms)

    @property
    def n_failed(self) -> int:
        """Trials that ended without a score."""
        return sum(llm.n_failed for llm in self.llms)

    @property
    def seconds_left(self) -> float | None:
        """Time until the run ends at the present pace; None while that is unknown."""
        pace = self.n_done / self.elapsed_s if self.elapsed_s else 0.0
        return (self.n_items - self.n_done) / pace if pace else None

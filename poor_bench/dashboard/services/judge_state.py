"""State of a judged run, immutable."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.dashboard.services.run_state import ACTIVE_PHASES, RunPhase


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeState:
    """State of a run at one moment."""

    phase: RunPhase = RunPhase.IDLE
    agent_name: str = ""
    n_steps: int = 0
    """Conversations and judgements of the run."""
    n_done: int = 0
    events: tuple[str, ...] = ()
    """Latest events, newest first; may quote models."""
    cost_usd: float | None = None
    """Of everything so far; None where no price is known."""
    elapsed_s: float = 0.0
    message: str = ""
    """Why it could not go on, or what is missing."""

    @property
    def is_active(self) -> bool:
        """True while the run is active."""
        return self.phase in ACTIVE_PHASES

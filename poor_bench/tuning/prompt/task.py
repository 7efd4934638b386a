"""Task and progress of prompt tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.tuning.prompt.cases import Subject
from poor_bench.tuning.prompt.ideas import IdeaSource
from poor_bench.tuning.prompt.search import Effort
from poor_bench.tuning.prompt.split import Shares, Split
from poor_bench.tuning.spending import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptProgress:
    """Progress of a search."""

    n_calls: int
    n_candidates: int
    base_score: float | None
    """Mean of the prompt in use on the validation cases; None until it is known."""
    best_score: float | None
    is_writing: bool = False
    """True while a prompt is being written, which may take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTask:
    """Subject, models and limits of a search."""

    subject: Subject
    llm: LLM
    """The model that the prompt is for."""
    reflection_llm: LLM
    """The model that writes prompts, if any."""
    ideas: IdeaSource = IdeaSource.BOTH
    limits: Limits
    effort: Effort = field(default_factory=Effort)
    shares: Shares = field(default_factory=Shares)

    @property
    def asked(self) -> tuple[LLM, ...]:
        """Everybody whom the search may ask."""
        writes = self.ideas is not IdeaSource.EDITS
        return (*self.subject.llms, *((self.reflection_llm,) if writes else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Components of a search."""

    manager: LLMManager
    cancelled: Callable[[], bool] = lambda: False
    """Asked again and again; true ends the search."""
    tell: Callable[[PromptProgress], None] = lambda _progress: None


def header_of(task: PromptTask, split: Split) -> dict[str, Any]:
    """Build the header of a search's file."""
    subject = task.subject
    return {
        "kind": "prompt",
        "name": subject.name,
        "subject": subject.reference,
        "llm": task.llm.id,
        "reflection_llm": task.reflection_llm.id,
        "ideas": task.ideas.value,
        "base_text": subject.base_text,
        "fingerprint": subject.fingerprint,
        "n_calls_per_case": subject.n_calls_per_case,
        "effort": asdict(task.effort),
        "limits": asdict(task.limits),
        "split": {part: list(ids) for part, ids in asdict(split).items()},
    }

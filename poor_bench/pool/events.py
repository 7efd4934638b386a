"""What a pool tells while it works off jobs: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from poor_bench.models.failure import Failure

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class JobDone(Generic[Value]):
    """A job ended."""

    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLoading:
    """A model is being brought into memory, which can take minutes."""

    llm_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFetching:
    """The file of a model is being fetched; told many times."""

    llm_id: str
    n_bytes: int
    of_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLoaded:
    """A model is in memory."""

    llm_id: str
    load_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNotPreloaded:
    """The server did not load the model ahead; the first request has to load it."""

    llm_id: str
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChanged:
    """A run that searches the limits of a model's endpoint asks more or less of it."""

    llm_id: str
    at_once: int
    per_second: float

    def __str__(self) -> str:
        return f"up to {self.at_once} at once, {self.per_second:.0f} requests/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMUnavailable:
    """A model cannot be asked; its remaining jobs stay pending. Told once for each model."""

    llm_id: str
    failure: Failure
    hint: str
    n_skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMFinished:
    """All jobs of a model ended or were skipped."""

    llm_id: str


ModelEvent = (
    ModelLoading
    | ModelFetching
    | ModelLoaded
    | ModelNotPreloaded
    | LimitChanged
    | LLMUnavailable
    | LLMFinished
)

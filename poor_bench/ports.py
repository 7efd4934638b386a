"""Every seam of the package on one page: what is plugged in behind each Protocol."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.llm import Timeouts
from poor_bench.models.result import Result


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def now_iso(self) -> str:
        """The present moment as ISO 8601, UTC."""

    def wait(self, seconds: float, cancelled: Callable[[], bool]) -> None:
        """Wait `seconds`, or until `cancelled()` is true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallControl:
    """Within what limits a provider may work on one request."""

    timeouts: Timeouts
    cancelled: Callable[[], bool] = lambda: False
    """Asked between pieces of a reply; a provider raises RunCancelledError when it is true."""
    fetched: Callable[[int, int], None] = lambda _n_bytes, _of_bytes: None
    """Told how many bytes of a model's file are there, and of how many, while it is fetched."""
    loading: Callable[[], None] = lambda: None
    """Called when the provider begins to load a model into memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachability:
    """What a provider found out about its LLM without generating anything."""

    reachable: bool
    model_present: bool | None = None
    """None where the endpoint does not tell."""
    refused: bool = False
    """True if the endpoint would not serve us, as without a key."""
    message: str = ""
    models: tuple[str, ...] = ()
    """Names that the endpoint serves, where it tells."""

    @property
    def state(self) -> Literal["ready", "unreachable", "model missing", "refused"]:
        """`ready` if the LLM can be asked now, or else the reason why not."""
        if not self.reachable:
            return "unreachable"
        if self.refused:
            return "refused"
        return "model missing" if self.model_present is False else "ready"


class Provider(Protocol):
    """Translates between our requests and one LLM's wire format; no retries, no rate limits.

    One object serves one LLM and is called from several threads at once.
    """

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM.

        Raises:
            ProviderError: If no usable reply comes; its kind says why.
            RunCancelledError: If `control.cancelled()` turned true.
        """

    def preload(self, control: CallControl) -> float | None:
        """Bring the model into memory; return milliseconds, or None where no such step exists."""

    def unload(self) -> None:
        """Free the model's memory, where there is such a step; never raises."""

    def check(self) -> Reachability:
        """Find out whether the LLM can be asked; never raises ProviderError."""

    def close(self) -> None:
        """Free connections; the object is not used afterwards."""


@runtime_checkable
class TellsServer(Protocol):
    """A provider that can name its server."""

    def describe_server(self) -> str:
        """Name and version of the server, such as `Ollama 0.12.3`; empty if it does not tell.

        Takes 2 seconds at most, and never raises ProviderError.
        """


class BatchState(StrEnum):
    """How far a batch is at its provider."""

    RUNNING = "running"
    CANCELLING = "cancelling"
    ENDED = "ended"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """The provider refused the batch as a whole; nothing was answered or paid."""

    @property
    def is_final(self) -> bool:
        """True if nothing more is answered."""
        return self not in {BatchState.RUNNING, BatchState.CANCELLING}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """What a provider says of one batch."""

    state: BatchState
    n_done: int
    n_items: int
    files: tuple[str, ...] = ()
    """Paths of what `BatchApi.fetch` reads, once it has ended."""
    has_all_lines: bool = False
    """True if these hold a line for each request, whatever became of it."""
    error: ProviderError | None = None
    """Why the provider refused the batch as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLookup:
    """What became of a submission that broke off."""

    batch_id: str = ""
    """The batch; empty if it was not found."""
    unclear: tuple[str, ...] = ()
    """Batches that may be it: they tell only when they end."""


class BatchApi(Protocol):
    """A provider's batches: many requests in one file, answered within a day at a lower price."""

    most_items: int
    """Requests that a batch may have."""
    most_bytes: int
    """Bytes that the lines of a batch may have in all."""

    @property
    def refused(self) -> frozenset[str]:
        """Parts of requests that the model refused so far, such as `temperature`."""

    def leave_out(self, refused: Iterable[str]) -> None:
        """Build further requests without what the model refused in an earlier process."""

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        """Write one request as the provider wants it in a batch, without a line end."""

    def find_newest(self, control: CallControl) -> str:
        """Name the account's newest batch, a mark for `find`; empty if there is none."""

    def submit(self, key: str, lines: Iterable[bytes], control: CallControl) -> str:
        """Submit a batch under a key of ours; return the provider's id of it."""

    def find(
        self, key: str, n_items: int, after: str, known: Container[str], control: CallControl
    ) -> BatchLookup:
        """Find out if a batch was submitted under a key.

        Args:
            key: As in `submit`.
            n_items: Its requests.
            after: What `find_newest` named before; older batches are not looked at.
            known: Ids of batches that are accounted for.
            control: Limits of the call.
        """

    def look(self, batch_id: str, control: CallControl) -> BatchProgress:
        """Find out how far a batch is."""

    def fetch(self, path: str, control: CallControl) -> Iterator[bytes]:
        """Yield the lines of one of `BatchProgress.files`."""

    def read(self, line: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read one line of the results.

        Raises:
            ProviderError: If the request failed, expired or was cancelled.
        """

    def cancel(self, batch_id: str, control: CallControl) -> None:
        """Ask the provider to stop; what is answered by then can still be fetched."""


@runtime_checkable
class OffersBatches(Protocol):
    """A provider whose server takes batches; the calls raise as `Provider.complete`."""

    def open_batches(self) -> BatchApi:
        """Open the batches of the LLM's account."""


class Evaluate(Protocol):
    """The function `evaluate` of an evaluator module; `plugins.module_contract` says all of it."""

    def __call__(self, response: str, parameters: Mapping[str, Any], **extra: Any) -> Any:
        """Score a response from 0.0 to 1.0 and say why, or a `Verdict`."""


class ResultSink(Protocol):
    """Where results go the moment they exist."""

    def append(self, result: Result) -> None:
        """Store one result so that it survives the end of the process.

        Raises:
            StoreError: If it could not be stored.
        """


class Listener(Protocol):
    """What a console or dashboard hears of a run; called from several threads, one at a time."""

    def __call__(self, event: Any) -> None:
        """Take one of the events of `poor_bench.runner.events`."""

"""Batches of Anthropic: all requests in one body, all results in one file.

Source:
    https://docs.claude.com/en/docs/build-with-claude/batch-processing: at most 100,000 requests
    and 256 MB, answered within 24 hours at half the price. A batch carries no mark of its sender
    but the custom ids of its results.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.ports import BatchLookup, BatchProgress, BatchState, CallControl
from poor_bench.providers.anthropic_wire import AnthropicWire
from poor_bench.providers.batch_listing import id_in, in_one_piece, walk
from poor_bench.providers.chat_wire import count_at, mapping_at, mappings_at, text_at
from poor_bench.providers.http_chat import HttpChat
from poor_bench.providers.transport.reply import MalformedJsonError, dump_json, load_json

_PATH = "/v1/messages/batches"
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


class AnthropicBatches:
    """The batches of one account; see `poor_bench.ports.BatchApi`."""

    most_items = 100_000
    most_bytes = 256_000_000

    def __init__(self, chat: HttpChat, wire: AnthropicWire) -> None:
        self._chat = chat
        self._wire = wire

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        """Write one request as an item of the list of requests."""
        body = self._wire.body(in_one_piece(request), frozenset())
        return dump_json({"custom_id": custom_id, "params": body})

    def find_newest(self, control: CallControl) -> str:
        """Name the account's newest batch."""
        page = self._chat.get(self._wire, f"{_PATH}?limit=1", control)
        return next((text_at(batch, "id") for batch in mappings_at(page, "data")), "")

    def submit(self, key: str, lines: Iterable[bytes], control: CallControl) -> str:
        """Submit all requests in one body; their custom ids begin with the key."""
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return id_in(self._chat.upload(self._wire, _PATH, control, body, "application/json"))

    def find(
        self, key: str, n_items: int, after: str, known: Container[str], control: CallControl
    ) -> BatchLookup:
        """Find the batch whose results carry the key; one that is running does not tell."""
        unclear = []
        for batch in walk(lambda query: self._list(query, control), "after_id", after):
            batch_id, progress = id_in(batch), _read_progress(batch)
            if progress.n_items != n_items or batch_id in known:
                continue
            if progress.state is BatchState.RUNNING:
                unclear.append(batch_id)
            elif self._begins_with(key, progress, control):
                return BatchLookup(batch_id=batch_id)
        return BatchLookup(unclear=tuple(unclear))

    def look(self, batch_id: str, control: CallControl) -> BatchProgress:
        """Find out how far a batch is."""
        return _read_progress(self._chat.get(self._wire, f"{_PATH}/{batch_id}", control))

    def fetch(self, path: str, control: CallControl) -> Iterator[bytes]:
        """Yield the lines of the results."""
        return self._chat.lines(self._wire, path, control)

    def read(self, line: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read the answer, or raise the error, of one line."""
        result = mapping_at(line, "result")
        match text_at(result, "type"):
            case "succeeded":
                return self._chat.read_kept(self._wire, request, mapping_at(result, "message"))
            case "expired":
                message = "the batch expired before this request was answered"
                raise ProviderError(message, kind=FailureKind.TIMEOUT)
            case "canceled":
                message = "the batch was cancelled before this request was answered"
                raise ProviderError(message, kind=FailureKind.CANCELLED)
        raise self._chat.refusal(mapping_at(result, "error") or {"message": "no reason given"})

    def cancel(self, batch_id: str, control: CallControl) -> None:
        """Ask Anthropic to stop the batch."""
        self._chat.post(self._wire, f"{_PATH}/{batch_id}/cancel", control, {})

    def _list(self, query: str, control: CallControl) -> Mapping[str, Any]:
        return self._chat.get(self._wire, f"{_PATH}{query}", control)

    def _begins_with(self, key: str, progress: BatchProgress, control: CallControl) -> bool:
        lines = (line for path in progress.files for line in self.fetch(path, control) if line)
        try:
            first = load_json(next(lines, b"{}"))
        except MalformedJsonError:
            return False
        finally:
            lines.close()
        return text_at(first, "custom_id").startswith(f"{key}-")


def _read_progress(batch: Mapping[str, Any]) -> BatchProgress:
    counts = mapping_at(batch, "request_counts")
    by_name = {name: count_at(counts, name) or 0 for name in _COUNTS}
    has_ended = text_at(batch, "processing_status") == "ended"
    n_items = sum(by_name.values())
    return BatchProgress(
        state=BatchState.ENDED if has_ended else BatchState.RUNNING,
        n_done=n_items - by_name["processing"],
        n_items=n_items,
        files=(f"{_PATH}/{id_in(batch)}/results",) if has_ended else (),
    )

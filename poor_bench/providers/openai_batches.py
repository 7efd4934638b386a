"""Batches of OpenAI: a file of requests, a batch of it, one file of answers and one of errors.

Source:
    https://platform.openai.com/docs/guides/batch and
    https://platform.openai.com/docs/api-reference/batch: at most 50,000 requests and 200 MB, one
    model a file, answered within 24 hours at half the price.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.ports import BatchLookup, BatchProgress, BatchState, CallControl
from poor_bench.providers.batch_listing import id_in, in_one_piece, walk
from poor_bench.providers.chat_wire import count_at, mapping_at, mappings_at, text_at
from poor_bench.providers.http_chat import HttpChat
from poor_bench.providers.openai_wire import OpenAIWire
from poor_bench.providers.transport.reply import dump_json

_CALL = "/v1/chat/completions"
_MARK = "poor_bench_batch"
"""Name of our key among the metadata of a batch."""
_RENAMED = frozenset({"max_tokens"})
"""All models take `max_completion_tokens`, newer ones nothing else; nobody answers a refusal."""
_STATES = {
    "completed": BatchState.ENDED,
    "expired": BatchState.EXPIRED,
    "cancelled": BatchState.CANCELLED,
    "failed": BatchState.FAILED,
}
_BOUNDARY = "poor-bench-form-7a1f0c5e9d"


class OpenAIBatches:
    """The batches of one account; see `poor_bench.ports.BatchApi`."""

    most_items = 50_000
    most_bytes = 200_000_000

    def __init__(self, chat: HttpChat, wire: OpenAIWire) -> None:
        self._chat = chat
        self._wire = wire

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        """Write one request as a line of the input file."""
        body = self._wire.body(in_one_piece(request), _RENAMED)
        return dump_json({"custom_id": custom_id, "method": "POST", "url": _CALL, "body": body})

    def find_newest(self, control: CallControl) -> str:
        """Name the account's newest batch."""
        page = self._chat.get(self._wire, "/batches?limit=1", control)
        return next((text_at(batch, "id") for batch in mappings_at(page, "data")), "")

    def submit(self, key: str, lines: Iterable[bytes], control: CallControl) -> str:
        """Upload the file, then make a batch of it that carries the key."""
        form = _build_form(f"poor_bench-{key}.jsonl", b"".join(line + b"\n" for line in lines))
        content_type = f"multipart/form-data; boundary={_BOUNDARY}"
        uploaded = self._chat.upload(self._wire, "/files", control, form, content_type)
        batch = {
            "input_file_id": id_in(uploaded),
            "endpoint": _CALL,
            "completion_window": "24h",
            "metadata": {_MARK: key},
        }
        return id_in(self._chat.post(self._wire, "/batches", control, batch))

    def find(
        self, key: str, n_items: int, after: str, known: Container[str], control: CallControl
    ) -> BatchLookup:
        """Find the batch that carries the key."""

        def fetch(query: str) -> Mapping[str, Any]:
            return self._chat.get(self._wire, f"/batches{query}", control)

        for batch in walk(fetch, "after", after):
            if mapping_at(batch, "metadata").get(_MARK) == key:
                return BatchLookup(batch_id=id_in(batch))
        return BatchLookup()

    def look(self, batch_id: str, control: CallControl) -> BatchProgress:
        """Find out how far a batch is."""
        batch = self._chat.get(self._wire, f"/batches/{batch_id}", control)
        counts = mapping_at(batch, "request_counts")
        state = _STATES.get(text_at(batch, "status"), BatchState.RUNNING)
        files = [key for key in ("output_file_id", "error_file_id") if text_at(batch, key)]
        return BatchProgress(
            state=state,
            n_done=(count_at(counts, "completed") or 0) + (count_at(counts, "failed") or 0),
            n_items=count_at(counts, "total") or 0,
            files=tuple(f"/files/{id_in(batch, key)}/content" for key in files),
            error=self._explain(batch) if state is BatchState.FAILED else None,
        )

    def fetch(self, path: str, control: CallControl) -> Iterator[bytes]:
        """Yield the lines of a file."""
        return self._chat.lines(self._wire, path, control)

    def read(self, line: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read the answer, or raise the error, of one line."""
        if error := mapping_at(line, "error"):
            raise self._read_error(error)
        response = mapping_at(line, "response")
        status, body = count_at(response, "status_code") or 200, mapping_at(response, "body")
        if status >= 300 or body.get("error"):
            raise self._chat.refusal(body, status)
        return self._chat.read_kept(self._wire, request, body)

    def cancel(self, batch_id: str, control: CallControl) -> None:
        """Ask OpenAI to stop the batch."""
        self._chat.post(self._wire, f"/batches/{batch_id}/cancel", control, {})

    def _read_error(self, error: Mapping[str, Any]) -> ProviderError:
        match text_at(error, "code"):
            case "batch_expired":
                message = "the batch expired before this request was answered"
                return ProviderError(message, kind=FailureKind.TIMEOUT)
            case "batch_cancelled":
                message = "the batch was cancelled before this request was answered"
                return ProviderError(message, kind=FailureKind.CANCELLED)
        return self._chat.refusal(error)

    def _explain(self, batch: Mapping[str, Any]) -> ProviderError:
        found = mappings_at(mapping_at(batch, "errors"), "data")
        return self._chat.refusal(found[0] if found else {"message": "the batch failed"}, 400)


def _build_form(name: str, content: bytes) -> bytes:
    """Build the body of an upload.

    Source:
        RFC 7578. Lines of JSON cannot hold the boundary at their start.
    """
    start = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name="
    purpose = f'{start}"purpose"\r\n\r\nbatch\r\n'
    head = f'{start}"file"; filename="{name}"\r\nContent-Type: application/jsonl\r\n\r\n'
    return b"".join((purpose.encode(), head.encode(), content, f"\r\n--{_BOUNDARY}--\r\n".encode()))

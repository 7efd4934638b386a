"""Batches of OpenAI and of Anthropic: requests that are answered within a day at half the price.

OpenAI takes a file of requests, makes a batch of it, and has one file of answers and one of errors.
Anthropic takes all requests in one body and has all results in one file; a batch of it carries no
mark of its sender but the custom ids of its results.

Source:
    https://platform.openai.com/docs/guides/batch and
    https://platform.openai.com/docs/api-reference/batch: at most 50,000 requests and 200 MB, one
    model a file. https://docs.claude.com/en/docs/build-with-claude/batch-processing: at most
    100,000 requests and 256 MB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.ports import BatchLookup, BatchProgress, BatchState, CallControl
from poor_bench.providers.chat_wire import (
    ChatWire,
    Refused,
    count_at,
    read_mapping,
    read_mappings,
    read_text,
)
from poor_bench.providers.error_reply import read_error
from poor_bench.providers.http_chat import HttpChat
from poor_bench.providers.transport.reply import MalformedJsonError, dump_json, load_json

_ID = re.compile(r"[\w-]{1,128}")
_MOST_PAGES = 50
PAGE = 100
"""Batches that one reply lists."""


def disable_streaming(request: ChatRequest) -> ChatRequest:
    """Turn streaming off in a request, as batches want it."""
    return replace(request, parameters={**request.parameters, "stream": False})


def read_id(value: Mapping[str, Any], key: str = "id") -> str:
    """Read an id that a server gave, safe to stand in a path.

    Raises:
        ProviderError: If it is missing or is not an id.
    """
    found = read_text(value, key)
    if not _ID.fullmatch(found):
        raise ProviderError(f"the reply has no usable {key}", kind=FailureKind.MALFORMED_REPLY)
    return found


def walk(
    fetch: Callable[[str], Mapping[str, Any]], cursor: str, until: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the batches of an account, the newest first.

    Args:
        fetch: Returns the page under a query.
        cursor: Name of the query parameter that takes the last id of a page.
        until: Id to stop at; empty for no such id.
    """
    query = f"?limit={PAGE}"
    for _ in range(_MOST_PAGES):
        page = fetch(query)
        batches = read_mappings(page, "data")
        for batch in batches:
            if read_text(batch, "id") == until and until:
                return
            yield batch
        if not batches or page.get("has_more") is not True:
            return
        query = f"?limit={PAGE}&{cursor}={read_id(batches[-1])}"


_CALL = "/v1/chat/completions"
_MARK = "poor_bench_batch"
"""Name of our key among the metadata of a batch."""
_STATES = {
    "cancelling": BatchState.CANCELLING,
    "completed": BatchState.ENDED,
    "expired": BatchState.EXPIRED,
    "cancelled": BatchState.CANCELLED,
    "failed": BatchState.FAILED,
}
_BOUNDARY = "poor-bench-form-7a1f0c5e9d"


class _Batches:
    """The batches of one account; see `poor_bench.ports.BatchApi`.

    Nobody answers a refusal while a batch is submitted. So it is learnt from when the batch is
    read, and the next one goes without what was refused.
    """

    _always_without: Refused = frozenset()

    def __init__(self, chat: HttpChat, wire: ChatWire) -> None:
        self._chat = chat
        self._wire = wire

    @property
    def refused(self) -> Refused:
        """Parts of requests that the model refused so far."""
        return self._chat.refused

    def leave_out(self, refused: Iterable[str]) -> None:
        """Leave out what an earlier batch learnt."""
        self._chat.refused |= frozenset(refused)

    def fetch(self, path: str, control: CallControl) -> Iterator[bytes]:
        """Yield the lines of a file of results."""
        return self._chat.lines(self._wire, path, control)

    def _build_body(self, request: ChatRequest, refused: Refused = frozenset()) -> dict[str, Any]:
        return self._wire.body(disable_streaming(request), self._always_without | refused)

    def _refuse(
        self, error: Mapping[str, Any], request: ChatRequest, status: int | None = None
    ) -> ProviderError:
        """Make the error for a refused request, and learn what to leave out."""
        refusal = self._chat.refusal(error, status)
        if refusal.kind is not FailureKind.BAD_REQUEST:
            return refusal
        part = self._wire.refusal(read_error(error, status), self._build_body(request))
        if part is None:
            return refusal
        self.leave_out([part])
        message = f"{refusal}; the next request is sent without {part}"
        return ProviderError(message, kind=refusal.kind, status=refusal.status)


class OpenAIBatches(_Batches):
    """The batches of an OpenAI account."""

    most_items = 50_000
    most_bytes = 200_000_000
    _always_without = frozenset({"max_tokens"})
    """All models take `max_completion_tokens`, newer ones nothing else."""

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        """Write one request as a line of the input file."""
        body = self._build_body(request, self.refused)
        return dump_json({"custom_id": custom_id, "method": "POST", "url": _CALL, "body": body})

    def find_newest(self, control: CallControl) -> str:
        """Name the account's newest batch."""
        page = self._chat.get(self._wire, "/batches?limit=1", control)
        return next((read_text(batch, "id") for batch in read_mappings(page, "data")), "")

    def submit(self, key: str, lines: Iterable[bytes], control: CallControl) -> str:
        """Upload the file, then make a batch of it that carries the key."""
        form = _build_form(f"poor_bench-{key}.jsonl", b"".join(line + b"\n" for line in lines))
        content_type = f"multipart/form-data; boundary={_BOUNDARY}"
        uploaded = self._chat.upload(self._wire, "/files", control, form, content_type)
        batch = {
            "input_file_id": read_id(uploaded),
            "endpoint": _CALL,
            "completion_window": "24h",
            "metadata": {_MARK: key},
        }
        return read_id(self._chat.post(self._wire, "/batches", control, batch))

    def find(
        self, key: str, n_items: int, after: str, known: Container[str], control: CallControl
    ) -> BatchLookup:
        """Find the batch that carries the key."""

        def fetch(query: str) -> Mapping[str, Any]:
            return self._chat.get(self._wire, f"/batches{query}", control)

        for batch in walk(fetch, "after", after):
            if read_mapping(batch, "metadata").get(_MARK) == key:
                return BatchLookup(batch_id=read_id(batch))
        return BatchLookup()

    def look(self, batch_id: str, control: CallControl) -> BatchProgress:
        """Find out how far a batch is."""
        batch = self._chat.get(self._wire, f"/batches/{batch_id}", control)
        counts = read_mapping(batch, "request_counts")
        state = _STATES.get(read_text(batch, "status"), BatchState.RUNNING)
        files = [key for key in ("output_file_id", "error_file_id") if read_text(batch, key)]
        return BatchProgress(
            state=state,
            n_done=(count_at(counts, "completed") or 0) + (count_at(counts, "failed") or 0),
            n_items=count_at(counts, "total") or 0,
            files=tuple(f"/files/{read_id(batch, key)}/content" for key in files),
            has_all_lines=state is BatchState.ENDED,
            error=self._explain(batch) if state is BatchState.FAILED else None,
        )

    def read(self, line: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read the answer, or raise the error, of one line."""
        if error := read_mapping(line, "error"):
            raise self._read_error(error, request)
        response = read_mapping(line, "response")
        status, body = count_at(response, "status_code") or 200, read_mapping(response, "body")
        if status >= 300 or body.get("error"):
            raise self._refuse(body, request, status)
        return self._chat.read_kept(self._wire, request, body)

    def cancel(self, batch_id: str, control: CallControl) -> None:
        """Ask OpenAI to stop the batch."""
        self._chat.post(self._wire, f"/batches/{batch_id}/cancel", control, {})

    def _read_error(self, error: Mapping[str, Any], request: ChatRequest) -> ProviderError:
        match read_text(error, "code"):
            case "batch_expired":
                message = "the batch expired before this request was answered"
                return ProviderError(message, kind=FailureKind.TIMEOUT)
            case "batch_cancelled":
                message = "the batch was cancelled before this request was answered"
                return ProviderError(message, kind=FailureKind.CANCELLED)
        return self._refuse(error, request)

    def _explain(self, batch: Mapping[str, Any]) -> ProviderError:
        found = read_mappings(read_mapping(batch, "errors"), "data")
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


_PATH = "/v1/messages/batches"
_PROCESSING = {"canceling": BatchState.CANCELLING, "ended": BatchState.ENDED}
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


class AnthropicBatches(_Batches):
    """The batches of an Anthropic account."""

    most_items = 100_000
    most_bytes = 256_000_000

    def line(self, custom_id: str, request: ChatRequest) -> bytes:
        """Write one request as an item of the list of requests."""
        body = self._build_body(request, self.refused)
        return dump_json({"custom_id": custom_id, "params": body})

    def find_newest(self, control: CallControl) -> str:
        """Name the account's newest batch."""
        page = self._chat.get(self._wire, f"{_PATH}?limit=1", control)
        return next((read_text(batch, "id") for batch in read_mappings(page, "data")), "")

    def submit(self, key: str, lines: Iterable[bytes], control: CallControl) -> str:
        """Submit all requests in one body; their custom ids begin with the key."""
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return read_id(self._chat.upload(self._wire, _PATH, control, body, "application/json"))

    def find(
        self, key: str, n_items: int, after: str, known: Container[str], control: CallControl
    ) -> BatchLookup:
        """Find the batch whose results carry the key; one that is running does not tell."""
        unclear = []
        for batch in walk(lambda query: self._list(query, control), "after_id", after):
            batch_id, progress = read_id(batch), _read_progress(batch)
            if progress.n_items != n_items or batch_id in known:
                continue
            if not progress.state.is_final:
                unclear.append(batch_id)
            elif self._begins_with(key, progress, control):
                return BatchLookup(batch_id=batch_id)
        return BatchLookup(unclear=tuple(unclear))

    def look(self, batch_id: str, control: CallControl) -> BatchProgress:
        """Find out how far a batch is."""
        return _read_progress(self._chat.get(self._wire, f"{_PATH}/{batch_id}", control))

    def read(self, line: Mapping[str, Any], request: ChatRequest) -> Completion:
        """Read the answer, or raise the error, of one line."""
        result = read_mapping(line, "result")
        match read_text(result, "type"):
            case "succeeded":
                return self._chat.read_kept(self._wire, request, read_mapping(result, "message"))
            case "expired":
                message = "the batch expired before this request was answered"
                raise ProviderError(message, kind=FailureKind.TIMEOUT)
            case "canceled":
                message = "the batch was cancelled before this request was answered"
                raise ProviderError(message, kind=FailureKind.CANCELLED)
        error = read_mapping(result, "error") or {"message": "no reason given"}
        raise self._refuse(error, request)

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
        return read_text(first, "custom_id").startswith(f"{key}-")


def _read_progress(batch: Mapping[str, Any]) -> BatchProgress:
    counts = read_mapping(batch, "request_counts")
    by_name = {name: count_at(counts, name) or 0 for name in _COUNTS}
    state = _read_state(batch, by_name)
    n_items = sum(by_name.values())
    return BatchProgress(
        state=state,
        n_done=n_items - by_name["processing"],
        n_items=n_items,
        files=(f"{_PATH}/{read_id(batch)}/results",) if state.is_final else (),
        has_all_lines=state.is_final,
    )


def _read_state(batch: Mapping[str, Any], counts: Mapping[str, int]) -> BatchState:
    """Read how far a batch is; how it ended stands in the counts of its requests only."""
    state = _PROCESSING.get(read_text(batch, "processing_status"), BatchState.RUNNING)
    if state is not BatchState.ENDED:
        return state
    if counts["canceled"]:
        return BatchState.CANCELLED
    return BatchState.EXPIRED if counts["expired"] else BatchState.ENDED

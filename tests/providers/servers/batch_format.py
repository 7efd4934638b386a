"""A server with the batches of OpenAI and Anthropic, written from their documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.providers.servers import anthropic_format, openai_format
from tests.providers.servers.fake_server import Answer, Request, json_answer

_CREATED = 1_700_000_000
_MOMENT = "2026-01-02T03:04:05Z"
Reply = Callable[[str], str]


@dataclass
class Batch:
    """One batch that was submitted."""

    id: str
    requests: list[dict[str, Any]]
    metadata: Mapping[str, str] = field(default_factory=dict)
    input_file_id: str = ""
    status: str = "in_progress"
    errors: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    """Name of a result file to its content."""
    outcomes: dict[str, str] = field(default_factory=dict)
    """Custom id to how its request ended, where that is not `succeeded`."""


class BatchServer:
    """Answers like both providers; tests decide when and how a batch ends."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.before: Callable[[Request], Answer | None] = lambda _request: None
        """Called with each request first; what it returns is sent instead."""
        self.after: Callable[[Request], None] = lambda _request: None
        """Called when a request has taken effect, before it is answered."""
        self.unknown: set[str] = set()
        """Ids that belong to another account."""

    def __call__(self, request: Request) -> Answer:
        answer = self.before(request)
        if answer is None:
            answer = self._route(request)
            self.after(request)
        return answer

    def finish(self, status: str = "completed", text: Reply = lambda prompt: "4") -> None:
        """End all batches: what has no outcome yet is answered."""
        for batch in self.batches:
            if batch.status == "in_progress":
                end_batch(batch, status, text)

    def _route(self, request: Request) -> Answer:
        path = urlsplit(request.path).path
        if path.startswith("/v1/messages/batches"):
            return self._route_anthropic(request, path.removeprefix("/v1/messages/batches"))
        if path.startswith("/v1/files"):
            return self._route_files(request, path)
        return self._route_openai(request, path.removeprefix("/v1/batches"))

    def _route_files(self, request: Request, path: str) -> Answer:
        if request.method == "POST":
            name, content = read_form(request)
            file_id = f"file-{len(self.files) + 1}"
            self.files[file_id], self.names[file_id] = content, name
            return json_answer(
                {
                    "id": file_id,
                    "object": "file",
                    "bytes": len(content),
                    "created_at": _CREATED,
                    "filename": name,
                    "purpose": "batch",
                    "status": "processed",
                }
            )
        file_id = path.split("/")[3]
        found = next((b.files[file_id] for b in self.batches if file_id in b.files), None)
        if found is None:
            return openai_format.refusal(404, f"No such File object: {file_id}")
        return Answer(body=found, content_type="application/octet-stream")

    def _route_openai(self, request: Request, path: str) -> Answer:
        if request.method == "POST" and not path:
            body = request.body
            lines = self.files[body["input_file_id"]].splitlines()
            batch = Batch(
                f"batch_{len(self.batches) + 1}",
                [json.loads(line) for line in lines],
                body.get("metadata") or {},
                body["input_file_id"],
            )
            self.batches.append(batch)
            return json_answer(show_openai(batch))
        if not path:
            return self._list(request, show_openai, "after")
        found = self._find(path)
        if found is None:
            return openai_format.refusal(404, f"No batch found with id '{path[1:]}'.")
        if path.endswith("/cancel"):
            found.status = "cancelling"
        return json_answer(show_openai(found))

    def _route_anthropic(self, request: Request, path: str) -> Answer:
        if request.method == "POST" and not path:
            batch = Batch(f"msgbatch_{len(self.batches) + 1}", request.body["requests"])
            self.batches.append(batch)
            return json_answer(show_anthropic(batch))
        if not path:
            return self._list(request, show_anthropic, "after_id")
        found = self._find(path)
        if found is None:
            return anthropic_format.refusal(404, "not_found_error", "Not found")
        if path.endswith("/cancel"):
            found.status = "cancelling"
        if path.endswith("/results"):
            return Answer(body=found.files["results"], content_type="application/x-jsonl")
        return json_answer(show_anthropic(found))

    def _find(self, path: str) -> Batch | None:
        batch_id = path.split("/")[1]
        known = (b for b in self.batches if b.id == batch_id and b.id not in self.unknown)
        return next(known, None)

    def _list(
        self, request: Request, show: Callable[[Batch], dict[str, Any]], cursor: str
    ) -> Answer:
        query = parse_qs(urlsplit(request.path).query)
        newest_first = [b for b in reversed(self.batches) if b.id not in self.unknown]
        if after := query.get(cursor):
            place = [batch.id for batch in newest_first].index(after[0])
            newest_first = newest_first[place + 1 :]
        limit = int(query.get("limit", ["20"])[0])
        page = [show(batch) for batch in newest_first[:limit]]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        has_more = len(newest_first) > limit
        return json_answer({"object": "list", "data": page, "has_more": has_more, **ends})


def read_form(request: Request) -> tuple[str, bytes]:
    """Read the file of an upload: its name and content."""
    head = b"Content-Type: " + request.headers["content-type"].encode() + b"\r\n\r\n"
    form = message_from_bytes(head + request.raw)
    parts: dict[Any, Message] = {
        part.get_param("name", header="content-disposition"): part
        for part in form.get_payload()
        if isinstance(part, Message)
    }
    assert parts["purpose"].get_payload() == "batch"
    content = parts["file"].get_payload(decode=True)
    assert isinstance(content, bytes)
    return parts["file"].get_filename() or "", content


def end_batch(batch: Batch, status: str = "completed", text: Reply = lambda prompt: "4") -> None:
    """Write the result files of a batch and set how it ended."""
    batch.status = status
    is_openai = batch.id.startswith("batch_")
    write = _openai_row if is_openai else _anthropic_row
    rows = [(each["custom_id"], write(batch, each, text)) for each in batch.requests]
    if not is_openai:
        batch.files = {"results": _join(row for _, row in rows)}
        return
    good = [row for name, row in rows if name not in batch.outcomes]
    bad = [row for name, row in rows if name in batch.outcomes]
    batch.files = {f"file-out-{batch.id}": _join(good), f"file-err-{batch.id}": _join(bad)}
    batch.files = {name: content for name, content in batch.files.items() if content}


def _join(rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _openai_row(batch: Batch, request: dict[str, Any], text: Reply) -> dict[str, Any]:
    row = {"id": f"batch_req_{request['custom_id']}", "custom_id": request["custom_id"]}
    match batch.outcomes.get(request["custom_id"]):
        case None:
            reply = text(request["body"]["messages"][-1]["content"])
            body = json.loads(openai_format.whole(reply).body)
            answered = {"status_code": 200, "request_id": "req_1", "body": body}
            return row | {"response": answered, "error": None}
        case "expired":
            error = {"code": "batch_expired", "message": "This request could not be executed."}
            return row | {"response": None, "error": error}
        case message:
            body = json.loads(openai_format.refusal(400, str(message)).body)
            refused = {"status_code": 400, "request_id": "req_1", "body": body}
            return row | {"response": refused, "error": None}


def _anthropic_row(batch: Batch, request: dict[str, Any], text: Reply) -> dict[str, Any]:
    outcome = batch.outcomes.get(request["custom_id"], "succeeded")
    result: dict[str, Any] = {"type": outcome}
    if outcome == "succeeded":
        content = request["params"]["messages"][-1]["content"]
        said = content if isinstance(content, str) else content[-1]["text"]
        blocks = [{"type": "text", "text": text(said)}]
        result["message"] = json.loads(anthropic_format.whole(blocks).body)
    elif outcome not in {"expired", "canceled"}:
        refusal = anthropic_format.refusal(400, "invalid_request_error", outcome)
        result = {"type": "errored", "error": json.loads(refusal.body)}
    return {"custom_id": request["custom_id"], "result": result}


def show_openai(batch: Batch) -> dict[str, Any]:
    """Show a batch as OpenAI does."""
    n_failed = len(batch.outcomes)
    has_ended = batch.status in {"completed", "expired", "cancelled"}
    names = sorted(batch.files, reverse=True)
    shown = {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
        "input_file_id": batch.input_file_id,
        "completion_window": "24h",
        "status": batch.status,
        "created_at": _CREATED,
        "request_counts": {
            "total": len(batch.requests),
            "completed": len(batch.requests) - n_failed if has_ended else 0,
            "failed": n_failed if has_ended else 0,
        },
        "metadata": batch.metadata,
    }
    by_kind = {re.sub(r"-batch.*", "", name): name for name in names}
    shown["output_file_id"] = by_kind.get("file-out")
    shown["error_file_id"] = by_kind.get("file-err")
    return shown


def show_anthropic(batch: Batch) -> dict[str, Any]:
    """Show a batch as Anthropic does."""
    has_ended = batch.status not in {"in_progress", "cancelling"}
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    for request in batch.requests:
        outcome = batch.outcomes.get(request["custom_id"], "succeeded")
        name = outcome if outcome in counts else "errored"
        counts[name if has_ended else "processing"] += 1
    shown = {False: "in_progress", True: "ended"}[has_ended]
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "canceling" if batch.status == "cancelling" else shown,
        "request_counts": counts,
        "created_at": _MOMENT,
        "expires_at": "2026-01-03T03:04:05Z",
        "ended_at": _MOMENT if has_ended else None,
        "cancel_initiated_at": None,
        "archived_at": None,
        "results_url": (
            f"https://api.anthropic.com/v1/messages/batches/{batch.id}/results"
            if has_ended
            else None
        ),
    }

"""The wire format of OpenAI's chat completions, written from its documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.providers.servers.fake_server import Answer, json_answer

USAGE = {
    "prompt_tokens": 19,
    "completion_tokens": 10,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 6},
}
_HEAD = {
    "id": "chatcmpl-1",
    "created": 1_700_000_000,
    "model": "gpt-test-2026-01-01",
    "system_fingerprint": "fp_1",
}
DONE = b"data: [DONE]\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event({**_HEAD, "object": "chat.completion.chunk", "choices": [choice], **more})


def usage_chunk(usage: Mapping[str, Any] = USAGE) -> bytes:
    return event({**_HEAD, "object": "chat.completion.chunk", "choices": [], "usage": usage})


def stream(*pieces: bytes, ending: str = "end") -> Answer:
    return Answer(pieces=pieces, ending=ending, content_type="text/event-stream")


def reply(text: str = "4", finish_reason: str = "stop", thinking: str = "") -> Answer:
    begin = [chunk({"role": "assistant", "content": ""})]
    begin += [chunk({"reasoning_content": thinking})] if thinking else []
    letters = [chunk({"content": character}) for character in text]
    return stream(*begin, *letters, chunk({}, finish_reason), usage_chunk(), DONE)


def whole(
    text: str | None = "4",
    finish_reason: str = "stop",
    model: str = "gpt-test-2026-01-01",
    **message: Any,
) -> Answer:
    full = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": full, "finish_reason": finish_reason}
    head = {**_HEAD, "model": model}
    return json_answer({**head, "object": "chat.completion", "choices": [choice], "usage": USAGE})


def refusal(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    kind: str = "invalid_request_error",
    **headers: str,
) -> Answer:
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json_answer({"error": error}, status, **headers)

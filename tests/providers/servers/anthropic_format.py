"""The wire format of Anthropic's Messages, written from its documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.providers.servers.fake_server import Answer, json_answer

USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 3,
    "cache_read_input_tokens": 5,
    "output_tokens": 1,
}
_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-test-20260101",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": USAGE,
}


def event(value: Mapping[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def start() -> bytes:
    return event({"type": "message_start", "message": _MESSAGE})


def block(index: int, kind: str, *pieces: str) -> list[bytes]:
    empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}[kind]
    begin = {"type": "content_block_start", "index": index, "content_block": {"type": kind} | empty}
    deltas = [
        {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: p}}
        for p in pieces
    ]
    return [
        event(item) for item in (begin, *deltas, {"type": "content_block_stop", "index": index})
    ]


def stop(reason: str = "end_turn", output_tokens: int = 15, **usage: Any) -> list[bytes]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        event(
            {
                "type": "message_delta",
                "delta": delta,
                "usage": {"output_tokens": output_tokens, **usage},
            }
        ),
        event({"type": "message_stop"}),
    ]


def stream(*pieces: bytes, ending: str = "end") -> Answer:
    return Answer(pieces=pieces, ending=ending, content_type="text/event-stream")


def reply(text: str = "4", reason: str = "end_turn", thinking: str = "") -> Answer:
    blocks = [*block(0, "thinking", thinking)] if thinking else []
    blocks += block(len(blocks) and 1, "text", *text)
    return stream(start(), event({"type": "ping"}), *blocks, *stop(reason))


def whole(content: list[dict[str, Any]], reason: str = "end_turn") -> Answer:
    usage = {**USAGE, "output_tokens": 15}
    return json_answer({**_MESSAGE, "content": content, "stop_reason": reason, "usage": usage})


def refusal(status: int, kind: str, message: str, **headers: str) -> Answer:
    value = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return json_answer(value, status, **headers)

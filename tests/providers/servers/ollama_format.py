"""Ollama's wire format, written from its documentation."""

from __future__ import annotations

import json
from typing import Any

from tests.providers.servers.fake_server import Answer, Request, Respond, json_answer

DIGEST = "sha256:abc"
COUNTERS = {
    "done_reason": "stop",
    "total_duration": 5_000_000_000,
    "load_duration": 1_000_000_000,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 500_000_000,
    "eval_count": 3,
    "eval_duration": 2_500_000_000,
}
TAGS = {
    "models": [
        {
            "name": "qwen3:1.7b",
            "model": "qwen3:1.7b",
            "digest": DIGEST,
            "size": 1_359_293_444,
            "details": {
                "family": "qwen3",
                "parameter_size": "2.0B",
                "quantization_level": "Q4_K_M",
            },
        }
    ]
}


def line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def piece(content: str = "", thinking: str = "") -> bytes:
    message = {"role": "assistant", "content": content}
    if thinking:
        message["thinking"] = thinking
    return line(
        {
            "model": "qwen3:1.7b",
            "created_at": "2026-01-01T00:00:00Z",
            "message": message,
            "done": False,
        }
    )


def last(**changes: Any) -> bytes:
    value = {
        "model": "qwen3:1.7b",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        **COUNTERS,
        **changes,
    }
    return line({key: item for key, item in value.items() if item is not None})


def stream(*pieces: bytes, ending: str = "end") -> Answer:
    return Answer(pieces=pieces, ending=ending, content_type="application/x-ndjson")


def reply(text: str = "4", thinking: str = "", **counters: Any) -> Answer:
    begin = [piece(thinking=thinking)] if thinking else []
    return stream(*begin, *(piece(character) for character in text), last(**counters))


def whole(text: str = "4", thinking: str = "", **counters: Any) -> Answer:
    value = json.loads(last(**counters))
    value["message"] = {"role": "assistant", "content": text, "thinking": thinking}
    return json_answer(value)


def ollama(*answers: Answer, tags: Any = TAGS, ps: Any = None) -> Respond:
    """Answer chats with one answer after the other, and what else a server knows."""
    left = list(answers)

    def respond(request: Request) -> Answer:
        fixed = {"/api/tags": tags, "/api/ps": ps, "/api/version": {"version": "0.34.0"}}
        if request.path in fixed:
            found = fixed[request.path]
            return json_answer({"models": []} if found is None else found)
        if request.path != "/api/chat":
            return Answer(status=404, body=b"404 page not found", content_type="text/plain")
        return left.pop(0) if len(left) > 1 else left[0]

    return respond

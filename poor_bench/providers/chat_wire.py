"""What requests and replies of several wire formats have in common; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from poor_bench.models.completion import ChatRequest, Completion, FinishReason, Timing, Usage
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.transport.reply import Framing


def list_messages(request: ChatRequest) -> list[dict[str, str]]:
    """List the messages as role and content."""
    return [{"role": message.role, "content": message.content} for message in request.messages]


def rename_parameters(parameters: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Rename the parameters that are set to the names that a server knows."""
    return {
        theirs: parameters[ours]
        for ours, theirs in names.items()
        if parameters.get(ours) is not None
    }


def list_stop_texts(parameters: Mapping[str, Any]) -> list[Any]:
    """List the texts of `stop`; empty where it is not set."""
    stop = parameters.get("stop")
    if not stop:
        return []
    return list(stop) if isinstance(stop, list | tuple) else [stop]


_LONG_REPLY = 256
"""Tokens up to which `stream: auto` asks for the reply in one piece."""


def is_streamed(parameters: Mapping[str, Any]) -> bool:
    """True if the reply is asked for as a stream.

    Example:
        >>> is_streamed({}), is_streamed({"stream": "auto", "max_tokens": 100})
        (True, False)
    """
    wanted = parameters.get("stream", True)
    if wanted != "auto":
        return bool(wanted)
    limit = parameters.get("max_tokens")
    return not isinstance(limit, int) or limit > _LONG_REPLY


def find_json_schema(parameters: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find the schema that `response_format` asks for; None where it asks for none.

    Our form `{"type": "json_schema", "schema": ...}` and OpenAI's, where the schema stands one
    level deeper, are both understood.
    """
    wanted = parameters.get("response_format")
    if not isinstance(wanted, Mapping):
        return None
    inner = wanted.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, Mapping) else wanted.get("schema")
    return schema if isinstance(schema, Mapping) else None


def wants_json(parameters: Mapping[str, Any]) -> bool:
    """True if `response_format` asks for JSON of any form."""
    wanted = parameters.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, Mapping) else wanted
    return kind in {"json", "json_object"}


def merge_extra_body(body: Mapping[str, Any], extra: Any) -> dict[str, Any]:
    """Merge `extra_body` into a request; its values win, mappings are merged."""
    result = dict(body)
    for key, value in extra.items() if isinstance(extra, Mapping) else ():
        before = result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = merge_extra_body(before, value) if both and before is not None else value
    return result


_LOOP_PIECES = 30
_SLACK, _SLACK_MS = 1.05, 50.0
"""By how much a server's times may exceed ours: clocks differ a little."""


@dataclass(slots=True)
class ReplyParts:
    """The pieces of one reply, filled as they arrive."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    finish_reason: FinishReason | None = None
    """None until the server says that it has finished."""
    usage: Usage = field(default_factory=Usage)
    model_digest: str | None = None
    load_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    prompt_truncated: bool = False

    @property
    def has_begun(self) -> bool:
        """True if any text or thinking has arrived."""
        return bool(self.text or self.thinking)

    @property
    def repeats_itself(self) -> bool:
        """True if the last 30 pieces are the same."""
        last = (self.text or self.thinking)[-_LOOP_PIECES:]
        return len(last) == _LOOP_PIECES and len(set(last)) == 1

    @property
    def _told_ms(self) -> float:
        """Milliseconds that the server says it took."""
        told = (self.load_ms, self.queue_ms, self.prefill_ms, self.decode_ms)
        return sum(part for part in told if part is not None)

    def to_completion(
        self, total_ms: float, first_token_ms: float | None, notes: tuple[str, ...] = ()
    ) -> Completion:
        """Make the finished reply, with the times that were measured here.

        Times of the server that do not fit into those are skipped: some proxies make them up.
        """
        if total_ms and self._told_ms > total_ms * _SLACK + _SLACK_MS:
            self.load_ms = self.queue_ms = self.prefill_ms = self.decode_ms = None
        return Completion(
            text=_join(self.text),
            thinking=_join(self.thinking),
            finish_reason=self.finish_reason or FinishReason.OTHER,
            usage=self.usage,
            timing=Timing(
                total_ms=total_ms,
                first_token_ms=first_token_ms,
                load_ms=self.load_ms,
                queue_ms=self.queue_ms,
                prefill_ms=self.prefill_ms,
                decode_ms=self.decode_ms,
            ),
            model_digest=self.model_digest,
            prompt_truncated=self.prompt_truncated,
            notes=notes,
        )


def read_text(value: Mapping[str, Any], key: str) -> str:
    """Read the text under a key of a server's object; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def read_mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Read the mapping under a key of a server's object; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def read_mappings(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Read the mappings in the list under a key; empty where there is none."""
    found = value.get(key)
    items = found if isinstance(found, list) else []
    return [item for item in items if isinstance(item, dict)]


def count_at(value: Mapping[str, Any], key: str) -> int | None:
    """Read the count under a key of a server's object; None where there is none."""
    found = number_at(value, key)
    return None if found is None else int(found)


def number_at(value: Mapping[str, Any], key: str) -> float | None:
    """Read the number under a key of a server's object; None where there is none."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found if 0 <= found < math.inf else None


def _join(pieces: list[str]) -> str:
    """Join pieces; characters that were cut between two of them are made whole."""
    text = "".join(pieces)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


Refused = frozenset[str]
"""What a server has refused so far; requests are built without it."""


class ReplyReader(Protocol):
    """Takes the objects of one reply as they arrive."""

    parts: ReplyParts

    def feed(self, value: Mapping[str, Any]) -> bool:
        """Take one object; return whether the reply is complete."""

    def close(self) -> bool:
        """Take note that nothing more comes; return whether the reply is complete."""


class ChatWire(Protocol):
    """Translates between our requests and one wire format."""

    path: str
    """Of the call, below the endpoint."""
    framing: Framing

    def headers(self, key: str | None) -> dict[str, str]:
        """Build the headers of a request."""

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Build the body of a request."""

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> ReplyReader:
        """Build the reader of the reply to that request."""

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Name the part of a request that the server refuses and that can be left out, or None."""

    def note(self, refused: str) -> str:
        """Say in one sentence what was done about a refusal."""

"""What a wire format has to say about itself; everything behind these Protocols is pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from poor_bench.models.completion import ChatRequest
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.reply_parts import ReplyParts
from poor_bench.providers.transport.streams import Framing

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
        """Return the headers of a request."""

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Return the body of a request."""

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> ReplyReader:
        """Return what takes the reply to that request."""

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Return what the server refuses of a request, if it can do without; None otherwise."""

    def note(self, refused: str) -> str:
        """Return one sentence on what was done about a refusal."""

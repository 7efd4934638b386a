"""The reply to one request while it arrives: from pieces of bytes to JSON objects.

JSON is read with tolerance for what real servers send.

Source:
    Server-sent events: WHATWG HTML, section 9.2. NDJSON: one JSON object a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.transport.watch import CallWatch
from poor_bench.safe_files import TooDeepError, load_json_text, refuse_deep_json

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse


class MalformedJsonError(ValueError):
    """Bytes that should be a JSON object and are not.

    Attributes:
        start: The first bytes, for a message.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__("not a JSON object")
        self.start = data[:4000]


def dump_json(value: Mapping[str, Any]) -> bytes:
    """Return a mapping as JSON; half surrogates in texts are kept as escapes.

    Raises:
        TypeError: If a value cannot stand in JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode("ascii")


def load_json(data: bytes) -> dict[str, Any]:
    """Return the JSON object that bytes hold; NaN, bad UTF-8 and half surrogates are let pass.

    Raises:
        MalformedJsonError: If they hold anything else.
    """
    try:
        refuse_deep_json(data.decode("latin-1"))
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _load_leniently(data)
    except TooDeepError as error:
        raise MalformedJsonError(data) from error
    if not isinstance(value, dict):
        raise MalformedJsonError(data)
    return value


def _load_leniently(data: bytes) -> Any:
    try:
        return load_json_text(data.decode("utf-8", "replace"))
    except ValueError as error:
        raise MalformedJsonError(data) from error


MOST_BYTES = 32 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
_DRAIN_S = 0.2


class Reply:
    """The reply to one request while it arrives."""

    def __init__(self, response: BaseHTTPResponse, watch: CallWatch) -> None:
        self._response = response
        self._at_end = False
        self.watch = watch
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives.

        Raises:
            ProviderError: If a deadline passes, or the body is larger than 32 MiB.
            RunCancelledError: If the run was cancelled.
        """
        received = 0
        while piece := self._response.read1(_PIECE_BYTES):
            received += len(piece)
            if received > MOST_BYTES:
                raise ProviderError(
                    "the reply is larger than 32 MiB", kind=FailureKind.MALFORMED_REPLY
                )
            self.watch.raise_if_over()
            yield piece
        self._at_end = True
        self.watch.raise_if_over()

    def read(self) -> bytes:
        """Return the whole body; raises as `pieces`."""
        return b"".join(self.pieces())

    def finish(self) -> None:
        """Keep the connection for the next call if nothing is left on it, else close it."""
        if not self._at_end:
            self._at_end = self._ends_now()
        self.abandon()
        self._response.release_conn()

    def abandon(self) -> None:
        """Close the connection unless the reply has ended."""
        if not self._at_end:
            self._response.close()

    def _ends_now(self) -> bool:
        """True if nothing follows, waiting for a moment only: a server may stay silent."""
        sock = getattr(self._response.connection, "sock", None)
        if sock is None:
            return False
        timeout = sock.gettimeout()
        sock.settimeout(_DRAIN_S)
        try:
            rest = self._response.read1(_PIECE_BYTES)
            sock.settimeout(timeout)
        except transport_exceptions():
            return False
        return not rest


def transport_exceptions() -> tuple[type[Exception], ...]:
    """List the exceptions that the HTTP libraries raise if a request fails in transit."""
    from http.client import HTTPException

    from urllib3.exceptions import HTTPError

    return HTTPError, HTTPException, OSError


def is_hang_up(error: Exception) -> bool:
    """True if the other side closed the connection before it replied anything."""
    from urllib3.exceptions import ProtocolError

    causes = error.args if isinstance(error, ProtocolError) else (error,)
    return any(isinstance(cause, ConnectionError) for cause in causes)


END_OF_STREAM = b"[DONE]"
_BOM = b"\xef\xbb\xbf"


class Framing(StrEnum):
    """How a server puts several JSON objects into one reply."""

    LINES = "lines"
    EVENTS = "events"


def split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a byte stream without their ends; the last one may lack its end."""
    rest: list[bytes] = []
    for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        if others:
            yield b"".join(rest).rstrip(b"\r")
            *whole, last = others
            for line in whole:
                yield line.rstrip(b"\r")
            rest = [last]
    if last_line := b"".join(rest):
        yield last_line.rstrip(b"\r")


def split_events(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events; comments, names and ids are passed over.

    An event whose closing blank line is missing at the end of the stream counts all the same:
    several servers leave it out.
    """
    data: list[bytes] = []
    for line in lines:
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


def read_objects(pieces: Iterable[bytes], framing: Framing) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a reply, streamed or not.

    A server that answers with one plain JSON object where a stream was asked for is understood.

    Raises:
        MalformedJsonError: If something else comes than JSON objects.
    """
    lines = split_lines(pieces)
    first = _first_line_with_text(lines)
    if framing is Framing.EVENTS and not first.startswith((b"{", b"[", b"<")):
        yield from _objects_of_events(first, lines)
    elif first:
        yield from _objects_of_lines(first, lines)


def _first_line_with_text(lines: Iterator[bytes]) -> bytes:
    for line in lines:
        if text := line.removeprefix(_BOM).strip():
            return text
    return b""


def _objects_of_events(first: bytes, lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    for data in split_events(_chain(first, lines)):
        if data.strip() == END_OF_STREAM:
            yield {"end_of_stream": True}
        elif data:
            yield load_json(data)


def _objects_of_lines(first: bytes, lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    try:
        yield load_json(first)
    except MalformedJsonError:
        yield load_json(b"\n".join(_chain(first, lines)))
        return
    for line in lines:
        if line.strip():
            yield load_json(line)


def _chain(first: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines

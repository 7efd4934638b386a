"""What a reply says: from chunks of HTTP to the JSON objects in them; pure.

JSON is read with tolerance for what real servers send.

Source:
    Chunks: RFC 9112, section 7.1. Server-sent events: WHATWG HTML,
    section 9.2. NDJSON: one JSON object a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import orjson

from poor_bench.safe_files import TooDeepError, load_json_text, refuse_deep_json

MOST_BYTES = 32 * 1024 * 1024
"""Largest reply that is read."""


class MalformedJsonError(ValueError):
    """Bytes that should be a JSON object and are not.

    Attributes:
        start: The first bytes, for a message.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__("not a JSON object")
        self.start = data[:4000]


def dump_json(value: Mapping[str, Any]) -> bytes:
    """Write a mapping as JSON; half surrogates in texts are kept as escapes.

    Raises:
        TypeError: If a value cannot stand in JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode("ascii")


def load_json(data: bytes) -> dict[str, Any]:
    """Read the JSON object that bytes hold; NaN, bad UTF-8 and half surrogates are let pass.

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


END_OF_STREAM = b"[DONE]"
_BOM = b"\xef\xbb\xbf"


class Framing(StrEnum):
    """How a server puts several JSON objects into one reply."""

    LINES = "lines"
    EVENTS = "events"


class _LineSplitter:
    """Puts together the lines of a byte stream, without their ends."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        first, *others = piece.split(b"\n")
        if not others:
            self._rest.append(first)
            return []
        *lines, last = [b"".join((*self._rest, first)), *others]
        self._rest = [last] if last else []
        return [line.rstrip(b"\r") for line in lines]

    def close(self) -> list[bytes]:
        """Take the last line where it lacks its end."""
        last = b"".join(self._rest)
        return [last.rstrip(b"\r")] if last else []


def split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a byte stream without their ends; the last one may lack its end."""
    splitter = _LineSplitter()
    for piece in pieces:
        yield from splitter.feed(piece)
    yield from splitter.close()


class _EventSplitter:
    """Puts together the data of server-sent events; comments, names and ids are passed over."""

    def __init__(self) -> None:
        self._data: list[bytes] = []

    def feed(self, line: bytes) -> bytes | None:
        """Take a line; give the data of the event that it ends, or None."""
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data, self._data = self._data, []
            return b"\n".join(data)
        return None

    def close(self) -> list[bytes]:
        """Take the data of an event whose closing blank line is missing at the end.

        It counts all the same: several servers leave it out.
        """
        return [b"\n".join(self._data)] if self._data else []


class ObjectReader:
    """Takes a reply in pieces and yields its JSON objects, streamed or not.

    A server that answers with one plain JSON object where a stream was asked for is understood.
    """

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._lines = _LineSplitter()
        self._events = _EventSplitter()
        self._take: Callable[[bytes], Sequence[dict[str, Any]]] = self._take_first
        self._unread: list[bytes] = []
        """Lines of one object that spans several."""

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """Yield the objects that a piece completes.

        Raises:
            MalformedJsonError: If something else comes than JSON objects.
        """
        for line in self._lines.feed(piece):
            yield from self._take(line)

    def close(self) -> Iterator[dict[str, Any]]:
        """Yield what was left incomplete at the end; raises as `feed`."""
        for line in self._lines.close():
            yield from self._take(line)
        for data in self._events.close():
            yield from _read_event(data)
        if self._unread:
            yield load_json(b"\n".join(self._unread))

    def _take_first(self, line: bytes) -> Sequence[dict[str, Any]]:
        """Find out what comes by the first line with text."""
        text = line.removeprefix(_BOM).strip()
        if not text:
            return ()
        if self._framing is Framing.EVENTS and not text.startswith((b"{", b"[", b"<")):
            self._take = self._take_event
            return self._take_event(text)
        try:
            value = load_json(text)
        except MalformedJsonError:
            self._unread, self._take = [text], self._keep
            return ()
        self._take = self._take_line
        return (value,)

    def _take_event(self, line: bytes) -> Sequence[dict[str, Any]]:
        data = self._events.feed(line)
        return _read_event(data) if data else ()

    def _take_line(self, line: bytes) -> Sequence[dict[str, Any]]:
        return (load_json(line),) if line.strip() else ()

    def _keep(self, line: bytes) -> Sequence[dict[str, Any]]:
        self._unread.append(line)
        return ()


def _read_event(data: bytes) -> Sequence[dict[str, Any]]:
    if data.strip() == END_OF_STREAM:
        return ({"end_of_stream": True},)
    return (load_json(data),) if data else ()


_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?")
_LONGEST_LINE = 64 * 1024


class BadChunkError(ValueError):
    """Bytes that are not a chunk where one should begin or end."""


class ChunkedBody:
    """Takes what arrives and returns what belongs to the body."""

    def __init__(self) -> None:
        self._left = 0
        """Bytes of the present chunk that are still to come."""
        self._data_ends = False
        self._in_trailers = False
        self._line_start = b""
        self.at_end = False
        """True once the last chunk and its trailers have arrived, and nothing else."""

    def feed(self, data: bytes) -> bytes:
        """Take `data`; give the part of the body that it completes, which may be empty.

        Raises:
            BadChunkError: If `data` is not chunked.
        """
        data, self._line_start = self._line_start + data, b""
        found, position = [], 0
        while position < len(data) and not self.at_end:
            if self._left:
                piece = data[position : position + self._left]
                found.append(piece)
                self._left -= len(piece)
                position += len(piece)
                continue
            end = data.find(b"\n", position)
            if end < 0:
                self._keep(data[position:])
                break
            self._take_line(data[position:end].removesuffix(b"\r"))
            position = end + 1
        if self.at_end and position < len(data):
            raise BadChunkError("bytes follow the last chunk")
        return found[0] if len(found) == 1 else b"".join(found)

    def _keep(self, line_start: bytes) -> None:
        if len(line_start) > _LONGEST_LINE:
            raise BadChunkError("the line of a chunk is too long")
        self._line_start = line_start

    def _take_line(self, line: bytes) -> None:
        if self._in_trailers:
            self.at_end = not line
        elif self._data_ends:
            if line:
                raise BadChunkError("a chunk is longer than it says")
            self._data_ends = False
        else:
            self._begin_chunk(line)

    def _begin_chunk(self, line: bytes) -> None:
        size = _SIZE.fullmatch(line)
        if size is None:
            raise BadChunkError("a chunk does not begin with its size")
        self._left = int(size.group(1), 16)
        self._data_ends = self._left > 0
        self._in_trailers = not self._data_ends

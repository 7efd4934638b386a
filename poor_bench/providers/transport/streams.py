"""From pieces of bytes to the JSON objects of a streamed reply; pure.

Source:
    Server-sent events: WHATWG HTML, section 9.2. NDJSON: one JSON object a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from poor_bench.providers.transport.json_text import MalformedJsonError, load_json

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
    for data in split_events(_chained(first, lines)):
        if data.strip() == END_OF_STREAM:
            yield {"end_of_stream": True}
        elif data:
            yield load_json(data)


def _objects_of_lines(first: bytes, lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    try:
        yield load_json(first)
    except MalformedJsonError:
        yield load_json(b"\n".join(_chained(first, lines)))
        return
    for line in lines:
        if line.strip():
            yield load_json(line)


def _chained(first: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines

"""The body of an HTTP reply out of its chunks, however the network cuts them; pure.

Source:
    RFC 9112, section 7.1 (chunked transfer coding).
"""

from __future__ import annotations

import re

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
        """Return the part of the body that `data` completes; may be empty.

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

"""Values over a connection."""

from __future__ import annotations

import math
import os
import socket
import time
from struct import Struct
from typing import Any, Protocol

from poor_bench.sandbox.encoding import (
    MAX_BYTES,
    DecodeError,
    decode,
    decode_trusted,
    encode,
    encode_exact,
)

# bytes of a length, the most significant one first
_SIZE = 4
_READ_SIZE = 65536
_DURATION = Struct("@ll")
# waits end up to a tick late, so that those of the same length need no new limit each
_TICKS_PER_S = 100


class ChannelClosedError(Exception):
    """The other side is gone."""


class DeadlineError(Exception):
    """The other side did not answer, or take what was sent, in time."""


class Connection(Protocol):
    """A stream of bytes in both directions.

    Both methods raise ChannelClosedError when the other side is gone, and DeadlineError at the
    deadline, in seconds of `time.monotonic`, where the connection knows deadlines.
    """

    def read(self, deadline: float | None) -> bytes:
        """Read at least one byte."""

    def write(self, content: bytes, deadline: float | None) -> None:
        """Send all of `content`."""


class SocketConnection:
    """A connection over a connected stream socket.

    Its time limits are the kernel's: those of Python's own take a system call more each time.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._timeouts: dict[int, float | None] = {}

    def read(self, deadline: float | None) -> bytes:
        """Read at least one byte; see `Connection`."""
        self._set_deadline(socket.SO_RCVTIMEO, deadline)
        try:
            content = self._socket.recv(_READ_SIZE)
        except OSError as error:
            raise _translate(error) from error
        if not content:
            raise ChannelClosedError
        return content

    def write(self, content: bytes, deadline: float | None) -> None:
        """Send all of `content`; see `Connection`."""
        try:
            while content:
                self._set_deadline(socket.SO_SNDTIMEO, deadline)
                content = content[self._socket.send(content) :]
        except OSError as error:
            raise _translate(error) from error

    def write_with_socket(
        self, content: bytes, other: socket.socket, deadline: float | None
    ) -> None:
        """Send all of `content`, and with its first byte a copy of another socket.

        Raises as `write` does.
        """
        self._set_deadline(socket.SO_SNDTIMEO, deadline)
        try:
            n_sent = socket.send_fds(self._socket, [content], [other.fileno()])
        except OSError as error:
            raise _translate(error) from error
        self.write(content[n_sent:], deadline)

    def read_with_socket(self) -> tuple[bytes, socket.socket]:
        """Read at least one byte, and the socket that was sent with the first one.

        Raises:
            ChannelClosedError: If the other side is gone, or sent no socket.
        """
        self._set_deadline(socket.SO_RCVTIMEO, None)
        try:
            content, descriptors, _, _ = socket.recv_fds(self._socket, _READ_SIZE, 1)
        except OSError as error:
            raise _translate(error) from error
        if not descriptors:
            raise ChannelClosedError
        sent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=descriptors[0])
        return content, sent

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _set_deadline(self, option: int, deadline: float | None) -> None:
        timeout = None
        if deadline is not None:
            n_ticks = math.ceil((deadline - time.monotonic()) * _TICKS_PER_S)
            if n_ticks <= 0:
                raise DeadlineError
            timeout = n_ticks / _TICKS_PER_S
        if timeout != self._timeouts.get(option):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _pack_duration(timeout))
            self._timeouts[option] = timeout


def _pack_duration(seconds: float | None) -> bytes:
    """Convert seconds to what the kernel takes (struct timeval), which reads zero as "for ever"."""
    if seconds is None:
        return _DURATION.pack(0, 0)
    return _DURATION.pack(*divmod(round(seconds * 1e6), 1_000_000))


def _translate(error: OSError) -> DeadlineError | ChannelClosedError:
    return DeadlineError() if isinstance(error, BlockingIOError) else ChannelClosedError()


class DescriptorConnection:
    """A connection over descriptors of pipes or of a socket; knows no deadlines."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def read(self, _deadline: float | None) -> bytes:
        """Read at least one byte; see `Connection`."""
        try:
            content = os.read(self._incoming, _READ_SIZE)
        except OSError as error:
            raise ChannelClosedError from error
        if not content:
            raise ChannelClosedError
        return content

    def write(self, content: bytes, _deadline: float | None) -> None:
        """Send all of `content`; see `Connection`."""
        try:
            while content:
                content = content[os.write(self._outgoing, content) :]
        except OSError as error:
            raise ChannelClosedError from error


class Channel:
    """Sends and receives values, each as 4 bytes of length and its encoding."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._buffer = bytearray()

    def send(self, value: object, deadline: float | None = None) -> None:
        """Send one value.

        Raises:
            EncodeError: If the value is too large.
            ChannelClosedError: If the other side is gone.
            DeadlineError: If the other side did not take it in time.
        """
        self.send_encoded(encode(value), deadline)

    def send_encoded(self, encoded: bytes, deadline: float | None = None) -> None:
        """Send one value that is encoded already; raises as `send` does."""
        self.connection.write(_make_frame(encoded), deadline)

    def receive(self, deadline: float | None = None) -> Any:
        """Receive the next value; plain data, whoever sent it.

        Raises:
            DecodeError: If the other side sent something else than plain data.
            ChannelClosedError: If the other side is gone.
            DeadlineError: If nothing, or only a part, came in time.
        """
        return decode(self.receive_encoded(deadline))

    def send_trusted(self, value: object, deadline: float | None = None) -> None:
        """Send one value that is exactly plain data, by a sender that is not a candidate.

        Raises as `send` does.
        """
        self.send_encoded(encode_exact(value), deadline)

    def receive_trusted(self) -> Any:
        """Receive the next value of a sender that is not a candidate; raises as `receive` does."""
        return decode_trusted(self.receive_encoded())

    def send_trusted_with_socket(
        self, value: object, other: socket.socket, deadline: float | None = None
    ) -> None:
        """Send as `send_trusted` does, and a copy of a socket as well; only over sockets."""
        assert isinstance(self.connection, SocketConnection)
        self.connection.write_with_socket(_make_frame(encode_exact(value)), other, deadline)

    def receive_trusted_with_socket(self) -> tuple[Any, socket.socket]:
        """Receive what `send_trusted_with_socket` sent; raises as `receive_trusted` does."""
        assert isinstance(self.connection, SocketConnection)
        content, sent = self.connection.read_with_socket()
        self._buffer += content
        return self.receive_trusted(), sent

    def receive_encoded(self, deadline: float | None = None) -> bytes:
        """Receive the next value as it came; raises as `receive` does if it is too long."""
        if not self._buffer:
            content = self.connection.read(deadline)
            if len(content) - _SIZE == int.from_bytes(content[:_SIZE]):
                return content[_SIZE:]
            self._buffer += content
        self._require(_SIZE, deadline)
        end = _SIZE + int.from_bytes(self._buffer[:_SIZE])
        if end > _SIZE + MAX_BYTES:
            raise DecodeError("more bytes announced than a value may have")
        self._require(end, deadline)
        encoded = bytes(self._buffer[_SIZE:end])
        del self._buffer[:end]
        return encoded

    def _require(self, length: int, deadline: float | None) -> None:
        while len(self._buffer) < length:
            self._buffer += self.connection.read(deadline)


def _make_frame(encoded: bytes) -> bytes:
    return len(encoded).to_bytes(_SIZE) + encoded

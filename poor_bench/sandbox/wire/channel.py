"""Values over a connection."""

from __future__ import annotations

import os
import socket
import time
from typing import Any, Protocol

from poor_bench.sandbox.wire.decoding import DecodeError, decode
from poor_bench.sandbox.wire.encoding import MAX_BYTES, decode_trusted, encode, encode_exact

_SIZE = 4
"""Bytes of a length, the most significant one first."""
_READ_SIZE = 65536


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
        """Return at least one byte."""

    def write(self, content: bytes, deadline: float | None) -> None:
        """Send all of `content`."""


class SocketConnection:
    """A connection over a connected stream socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._timeout = connected.gettimeout()
        self._default_timeout: float | None = None

    def limit_waits(self, seconds: float) -> None:
        """Let every wait without a deadline end with DeadlineError after some seconds."""
        self._default_timeout = seconds

    def read(self, deadline: float | None) -> bytes:
        """Return at least one byte; see `Connection`."""
        self._set_deadline(deadline)
        try:
            content = self._socket.recv(_READ_SIZE)
        except OSError as error:
            raise _translated(error) from error
        if not content:
            raise ChannelClosedError
        return content

    def write(self, content: bytes, deadline: float | None) -> None:
        """Send all of `content`; see `Connection`."""
        self._set_deadline(deadline)
        try:
            self._socket.sendall(content)
        except OSError as error:
            raise _translated(error) from error

    def write_with_socket(self, content: bytes, other: socket.socket) -> None:
        """Send a few bytes, and with them a copy of another socket.

        Raises:
            ChannelClosedError: If the other side is gone.
        """
        self._set_deadline(None)
        try:
            socket.send_fds(self._socket, [content], [other.fileno()])
        except OSError as error:
            raise _translated(error) from error

    def read_with_socket(self, length: int) -> socket.socket:
        """Take `length` bytes that were sent with a socket, and return that.

        Raises:
            ChannelClosedError: If the other side is gone.
        """
        self._set_deadline(None)
        try:
            _, descriptors, _, _ = socket.recv_fds(self._socket, length, 1)
        except OSError as error:
            raise _translated(error) from error
        if not descriptors:
            raise ChannelClosedError
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=descriptors[0])

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _set_deadline(self, deadline: float | None) -> None:
        timeout = self._default_timeout
        if deadline is not None:
            timeout = deadline - time.monotonic()
            if timeout <= 0:
                raise DeadlineError
        if timeout != self._timeout:
            self._socket.settimeout(timeout)
            self._timeout = timeout


def _translated(error: OSError) -> DeadlineError | ChannelClosedError:
    return DeadlineError() if isinstance(error, TimeoutError) else ChannelClosedError()


class DescriptorConnection:
    """A connection over descriptors of pipes or of a socket; knows no deadlines."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def read(self, _deadline: float | None) -> bytes:
        """Return at least one byte; see `Connection`."""
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
        self.connection.write(len(encoded).to_bytes(_SIZE) + encoded, deadline)

    def receive(self, deadline: float | None = None) -> Any:
        """Return the next value; plain data, whoever sent it.

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
        """Return the next value of a sender that is not a candidate; raises as `receive` does."""
        return decode_trusted(self.receive_encoded())

    def receive_encoded(self, deadline: float | None = None) -> bytes:
        """Return the next value as it came; raises as `receive` does if it is too long."""
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

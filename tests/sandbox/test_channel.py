from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.sandbox.channel import (
    Channel,
    ChannelClosedError,
    DeadlineError,
    SocketConnection,
)
from poor_bench.sandbox.encoding import MAX_BYTES, DecodeError

sockets_only = pytest.mark.skipif(sys.platform == "win32", reason="channels are pipes there")
MESSAGES: list[Any] = [("ready",), [1, 2.5, "three"], "x" * 70_000, None, b"\0" * 9]


class Pieces:
    """A connection that says what was recorded, in pieces; keeps what is written."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.written = b""

    def read(self, _deadline: float | None) -> bytes:
        if not self.pieces:
            raise ChannelClosedError
        return self.pieces.pop(0)

    def write(self, content: bytes, _deadline: float | None) -> None:
        self.written += content


def recorded(messages: list[Any]) -> bytes:
    connection = Pieces([])
    for message in messages:
        Channel(connection).send(message)
    return connection.written


@given(st.lists(st.integers(1, 60_000), max_size=30))
def test_messages_arrive_whole_however_they_are_cut(lengths: list[int]) -> None:
    content, pieces = recorded(MESSAGES), []
    for length in [*lengths, MAX_BYTES]:
        pieces.append(content[:length])
        content = content[length:]
    channel = Channel(Pieces([piece for piece in pieces if piece]))
    assert [channel.receive() for _ in MESSAGES] == MESSAGES
    with pytest.raises(ChannelClosedError):
        channel.receive()


def test_message_that_announces_too_much_is_refused_before_it_comes() -> None:
    channel = Channel(Pieces([(MAX_BYTES + 1).to_bytes(4, "big"), b"x"]))
    with pytest.raises(DecodeError, match="announced"):
        channel.receive()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


Pair = tuple[socket.socket, socket.socket]


@sockets_only
def test_silence_ends_at_the_deadline(pair: Pair) -> None:
    channel = Channel(SocketConnection(pair[0]))
    with pytest.raises(DeadlineError):
        channel.receive(time.monotonic() + 0.01)
    with pytest.raises(DeadlineError):
        channel.receive(time.monotonic() - 1)


@sockets_only
def test_message_in_pieces_has_to_be_complete_at_the_deadline(pair: Pair) -> None:
    channel = Channel(SocketConnection(pair[0]))
    pair[1].send(bytes([0, 0, 0, 9]) + b"[")
    with pytest.raises(DeadlineError):
        channel.receive(time.monotonic() + 0.05)


@sockets_only
def test_who_does_not_read_is_given_up_at_the_deadline(pair: Pair) -> None:
    channel = Channel(SocketConnection(pair[0]))
    with pytest.raises(DeadlineError):
        channel.send("x" * (MAX_BYTES - 100), time.monotonic() + 0.05)


@sockets_only
def test_deadline_of_one_wait_is_not_that_of_the_next(pair: Pair) -> None:
    ours, theirs = Channel(SocketConnection(pair[0])), Channel(SocketConnection(pair[1]))
    with pytest.raises(DeadlineError):
        ours.receive(time.monotonic() + 0.01)
    received: list[Any] = []
    waiting = threading.Thread(target=lambda: received.append(ours.receive()))
    waiting.start()
    theirs.send("late")
    waiting.join(20)
    assert received == ["late"]


@sockets_only
def test_closed_other_side_is_told_apart_from_a_slow_one(pair: Pair) -> None:
    pair[1].close()
    with pytest.raises(ChannelClosedError):
        Channel(SocketConnection(pair[0])).receive(time.monotonic() + 20)


@sockets_only
@pytest.mark.parametrize("message", [("check",), "x" * 500_000], ids=["short", "long"])
def test_socket_arrives_with_its_message(pair: Pair, message: Any) -> None:
    sender, receiver = Channel(SocketConnection(pair[0])), Channel(SocketConnection(pair[1]))
    near, far = socket.socketpair()
    with near, far:
        sending = threading.Thread(target=lambda: sender.send_trusted_with_socket(message, far))
        sending.start()
        received, passed_on = receiver.receive_trusted_with_socket()
        sending.join(20)
        with passed_on:
            os.write(near.fileno(), b"hello")
            assert passed_on.recv(5) == b"hello"
    assert received == message


@sockets_only
def test_message_without_the_socket_it_needs_ends_the_talk(pair: Pair) -> None:
    Channel(SocketConnection(pair[0])).send_trusted("alone")
    with pytest.raises(ChannelClosedError):
        Channel(SocketConnection(pair[1])).receive_trusted_with_socket()

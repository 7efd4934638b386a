"""Bytes between two sockets, both ways, until one side ends."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable

_PIECE = 65536


def relay(
    one: socket.socket, other: socket.socket, *, idle_s: float, count: Callable[[int], None]
) -> None:
    """Copy bytes in both directions until one side closes or nothing comes for `idle_s` seconds.

    Args:
        one: An open connection.
        other: Another one.
        idle_s: How long both may be silent.
        count: Told how many bytes are about to be passed on; may raise OSError.

    Raises:
        OSError: If a connection breaks.
    """
    peers = {one: other, other: one}
    for end in peers:
        end.settimeout(idle_s)
    with selectors.DefaultSelector() as selector:
        for end in peers:
            selector.register(end, selectors.EVENT_READ)
        while ready := selector.select(idle_s):
            for key, _events in ready:
                source = key.fileobj
                assert isinstance(source, socket.socket)
                piece = source.recv(_PIECE)
                if not piece:
                    return
                count(len(piece))
                peers[source].sendall(piece)

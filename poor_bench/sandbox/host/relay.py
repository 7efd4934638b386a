"""Passes messages between a checker and its candidate where they cannot be linked."""

from __future__ import annotations

import time
from typing import Any

from poor_bench.sandbox.wire.channel import Channel, ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.decoding import DecodeError, decode
from poor_bench.sandbox.wire.encoding import encode


def relay(checker: Channel, candidate: Channel, call_s: float, deadline: float) -> Any:
    """Pass on messages until the checker has one for us; see `poor_bench.sandbox.wire.messages`.

    Args:
        checker: Is ready.
        candidate: Is ready.
        call_s: How long the candidate may take for an answer, in seconds.
        deadline: When all has to be over, in seconds of `time.monotonic`.

    Raises:
        ChannelClosedError: If the checker is gone.
        DeadlineError: If the checker does not come to an end in time.
        DecodeError: If the checker sends something else than messages.
    """
    checker.send(("ready",), deadline)
    request = None
    while True:
        answer = _answer(candidate, request, min(time.monotonic() + call_s, deadline))
        checker.send_encoded(answer, deadline)
        request = checker.receive_encoded(deadline)
        message = decode(request)
        if message[0] != "call":
            return message


def _answer(candidate: Channel, request: bytes | None, deadline: float) -> bytes:
    """Return the candidate's next message, or one that says why there is none.

    Args:
        candidate: Whom to ask.
        request: What to ask; None for what it says by itself once it is loaded.
        deadline: When an answer is late.
    """
    try:
        if request is not None:
            candidate.send_encoded(request, deadline)
        return candidate.receive_encoded(deadline)
    except DeadlineError:
        return encode(("silent", "timed out"))
    except ChannelClosedError:
        return encode(("silent", "died"))
    except DecodeError:
        return encode(("silent", "garbled"))

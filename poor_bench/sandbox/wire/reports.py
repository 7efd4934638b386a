"""What the zygote is asked for, and what it says of a child: how it ended, or why there is none."""

from __future__ import annotations

from struct import Struct

from poor_bench.sandbox.outcomes import Exit

IN_TURN, APART = b"t", b"a"
"""Requests for a child that has the scratch folder for its time, or one of its own."""
_ENDED, _FAILED = b"e", b"f"
_EXIT = Struct("=id?")
"""See `Exit`."""


def pack_exit(end: Exit) -> bytes:
    """Return the report of an end."""
    return _ENDED + _EXIT.pack(*end)


def pack_failure(reason: str) -> bytes:
    """Return the report of a child that could not be started."""
    return _FAILED + reason.encode()


def unpack_report(report: bytes) -> Exit | str:
    """Return how a child ended, or why nothing is known of it."""
    if report[:1] == _ENDED and len(report) == 1 + _EXIT.size:
        return Exit(*_EXIT.unpack_from(report, 1))
    if report[:1] == _FAILED:
        return report[1:].decode()
    return "the process that watches it ended"

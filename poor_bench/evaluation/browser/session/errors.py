"""What can go wrong within a session, and what Playwright raises in our words."""

from __future__ import annotations

_CALL_LOG = "Call log:"
_LONGEST = 300


class ActionError(Exception):
    """Something could not be done to a page; the agent or playbook is told why."""


class OutOfTimeError(Exception):
    """The time limit of the trial is over, and its browser has been ended."""


def short_message(message: str) -> str:
    """Return what an error of Playwright says, without the log of all its attempts."""
    first = message.partition(_CALL_LOG)[0].rstrip("= \n")
    return " ".join(first.split())[:_LONGEST]

"""What can go wrong within a session, and what Playwright raises in our words."""

from __future__ import annotations

import re

_CALL_LOG = re.compile(r"\n?=*\s*Call log:.*", re.DOTALL)
_LONGEST = 300


class ActionError(Exception):
    """Something could not be done to a page; the agent or playbook is told why."""


class OutOfTimeError(Exception):
    """The time limit of the trial is over, and its browser has been ended."""


def short_message(message: str) -> str:
    """Return what an error of Playwright says, without the log of all its attempts."""
    first = _CALL_LOG.sub("", message).strip()
    return " ".join(first.split())[:_LONGEST]

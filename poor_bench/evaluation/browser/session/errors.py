"""Errors of a session, and the messages of Playwright in short."""

from __future__ import annotations

_CALL_LOG = "Call log:"
_JS_STACK = "\n    at "
_LONGEST = 300


class ActionError(Exception):
    """An action on a page failed; the agent or the playbook learns why."""


class OutOfTimeError(Exception):
    """The time limit of the trial is over, and its browser has been ended."""


def short_message(message: str) -> str:
    """Shorten an error of Playwright: without its log of attempts and the stack of JavaScript."""
    first = message.partition(_CALL_LOG)[0].partition(_JS_STACK)[0].rstrip("= \n")
    return " ".join(first.removeprefix("Page.evaluate: ").split())[:_LONGEST]

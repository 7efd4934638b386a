"""Answers to a tab that was opened before an update, and asks for what is there no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.components.notice import notice
from poor_bench.dashboard.ids import ShellIds

if TYPE_CHECKING:
    from flask import Response

_UNKNOWN = "Callback function not found"
"""How Dash begins the KeyError about a handler that it does not have."""
_TEXT = "poor_bench was updated since this tab was opened."
_RESTARTED = "The dashboard was started again. It printed a new link in its terminal."


def asks_for_old_handler(error: Exception) -> bool:
    """Return whether a request failed since its page is of another version."""
    return isinstance(error, KeyError) and str(error.args[0]).startswith(_UNKNOWN)


def reload_answer() -> Response:
    """Say to reload, in the form that Dash reads; nothing on the page changes."""
    return _answer("Reload this page", _TEXT)


def new_link_answer() -> Response:
    """Say that the link of a newer start is needed; nothing on the page changes."""
    return _answer("Open the new link", _RESTARTED)


def _answer(title: str, text: str) -> Response:
    from flask import jsonify

    message = notice(title, text, is_error=True) | {"autoClose": False}
    said = {ShellIds.NOTICES.value: {"sendNotifications": [message | {"id": "old-tab"}]}}
    return jsonify({"multi": True, "response": {}, "sideUpdate": said})

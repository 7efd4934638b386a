"""Short messages in the corner of the screen."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from poor_bench.dashboard.ids import ShellIds


def notice(title: str, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return a message for `NotificationContainer.sendNotifications`."""
    return {
        "action": "show",
        "id": uuid4().hex,
        "title": title,
        "message": text,
        "color": "red" if is_error else "blue",
        "autoClose": 10_000 if is_error else 3_000,
    }


def show_error(text: str) -> None:
    """Tell the reader, from within a callback, that something did not work."""
    from dash import set_props

    message = notice("Action failed", text, is_error=True)
    set_props(ShellIds.NOTICES, {"sendNotifications": [message]})

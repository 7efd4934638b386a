"""Short messages in the corner of the screen."""

from __future__ import annotations

from typing import Any
from uuid import uuid4


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

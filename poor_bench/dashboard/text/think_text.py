"""The think parameter as people read it."""

from __future__ import annotations


def think_to_text(think: bool | str | None) -> str:
    """Return a think parameter as screens show it.

    Example:
        >>> think_to_text(True), think_to_text("low"), think_to_text(None)
        ('on', 'low', 'default')
    """
    if isinstance(think, bool):
        return "on" if think else "off"
    return think or "default"

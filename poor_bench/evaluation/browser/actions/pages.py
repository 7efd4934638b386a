"""Actions on a whole page, for playbooks and LLMs."""

from __future__ import annotations

import re

from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession

_CLIPBOARD_KEYS = re.compile(
    r"(control|meta)\w{0,20}\+.{0,80}(c|x|v|insert)$|shift\w{0,20}\+(insert|delete)$"
    r"|^(copy|cut|paste)$",
    re.IGNORECASE,
)
_SCROLL_PIXELS = 600


def press(session: BrowserSession, key: str) -> None:
    """Press a key where the focus is.

    Raises:
        ActionError: If the key would move a credential through the clipboard, to where it does not
            belong.
    """
    with session.errors():
        if session.has_typed_credentials and _CLIPBOARD_KEYS.search(key):
            raise ActionError("the clipboard is blocked after a credential was typed")
        session.page.keyboard.press(key)
        session.settle()


def scroll(session: BrowserSession, direction: str) -> None:
    """Scroll most of a screen, `down` or `up`."""
    with session.errors():
        session.page.mouse.wheel(0, _SCROLL_PIXELS if direction == "down" else -_SCROLL_PIXELS)
        session.settle()


def go_back(session: BrowserSession) -> None:
    """Go back to the page before."""
    with session.errors():
        session.page.go_back(wait_until="domcontentloaded")
        session.settle()

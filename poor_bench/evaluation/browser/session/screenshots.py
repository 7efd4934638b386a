"""Images of pages, without the values of credentials."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

_TIMEOUT_MS = 5000
_QUALITY = 70
_MOST_FRAMES = 20


def take_screenshot(page: Page, path: Path, secrets: Iterable[str]) -> bool:
    """Store what is visible of a page as a JPEG; texts that hold a secret are covered.

    Returns:
        Whether there is an image now; a page can be in a state that has none.
    """
    from playwright.sync_api import TimeoutError as TookTooLongError

    try:
        page.screenshot(
            path=path,
            type="jpeg",
            quality=_QUALITY,
            timeout=_TIMEOUT_MS,
            mask=_covered(page, secrets),
        )
    except TookTooLongError:
        return False
    return True


def _covered(page: Page, secrets: Iterable[str]) -> list[Locator]:
    return [
        frame.get_by_text(secret)
        for secret in secrets
        for frame in page.frames[:_MOST_FRAMES]
        if not frame.is_detached()
    ]

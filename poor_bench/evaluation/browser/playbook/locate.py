"""From the target of a step to the element on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.evaluation.browser.playbook.models import Target
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Locator, Page

_PATIENCE_MS = 6_000
_LOOK_MS = 500


def matches(page: Page, target: Target) -> Locator:
    """All elements that match a target, ignoring `nth`."""
    root: Page | FrameLocator = page.frame_locator(target.frame) if target.frame else page
    if target.role is not None:
        role: Any = target.role
        return root.get_by_role(role, name=target.name, exact=target.exact)
    if target.label is not None:
        return root.get_by_label(target.label, exact=target.exact)
    if target.placeholder is not None:
        return root.get_by_placeholder(target.placeholder, exact=target.exact)
    if target.text is not None:
        return root.get_by_text(target.text, exact=target.exact)
    return root.locator(target.css or "body")


def find(session: BrowserSession, target: Target) -> Locator:
    """Wait for the one element of a target to be visible.

    Raises:
        ActionError: If there is none, or several and no `nth`.
    """
    for _ in range(_PATIENCE_MS // _LOOK_MS):
        with session.errors():
            found = matches(session.page, target)
            element = found.first if target.nth is None else found.nth(target.nth - 1)
            if not _is_visible_soon(element):
                continue
            n_found = found.count()
        if target.nth is None and n_found > 1:
            raise ActionError(f"{n_found} elements match {in_words(target)}; select one with `nth`")
        return element
    raise ActionError(f"{in_words(target)} does not exist")


def _is_visible_soon(element: Locator) -> bool:
    """Wait for a moment only: the tab that is shown may change meanwhile."""
    from playwright.sync_api import TimeoutError as TookTooLongError

    try:
        element.wait_for(state="visible", timeout=_LOOK_MS)
    except TookTooLongError:
        return False
    return True


def wait_until_absent(session: BrowserSession, target: Target) -> None:
    """Wait until no element of a target is visible.

    Raises:
        ActionError: If it does not go away.
    """
    from playwright.sync_api import TimeoutError as TookTooLongError

    with session.errors():
        try:
            matches(session.page, target).first.wait_for(state="hidden", timeout=_PATIENCE_MS)
        except TookTooLongError:
            raise ActionError(f"{in_words(target)} still exists") from None


def is_there(session: BrowserSession, target: Target) -> bool:
    """True if an element of a target is visible just now."""
    with session.errors():
        return any(element.is_visible() for element in matches(session.page, target).all())


def in_words(target: Target) -> str:
    """A target in words.

    Example:
        >>> in_words(Target(role="button", name="Search"))
        'button "Search"'
    """
    if target.role is not None:
        words = target.role if target.name is None else f'{target.role} "{target.name}"'
    else:
        way = next((way for way in Target.ways if getattr(target, way) is not None), "")
        words = f'{way} "{getattr(target, way)}"' if way else "page"
    return words if target.nth is None else f"{words}, number {target.nth}"

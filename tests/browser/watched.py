"""Pages that remember everything that must not happen."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, Route

# The address has a query, which a glob without a star behind it would not match.
_CALLBACKS = re.compile(r"/_dash-update-component(\?|$)")
_LIST_PENDING = """() => {
  const frame = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const list = () => {
    const { stored, completed, ...pending } = window.store.getState().callbacks;
    const outputs = Object.values(pending).flat().map((each) => each.callback.output);
    return outputs.filter((each) => !each.includes("shell-version-store.data"));
  };
  return frame().then(list).then((listed) => frame().then(() => listed));
}"""
"""What Dash asked, or is about to ask, but for its clock, which never rests; what came is drawn."""


class Watch:
    """Notes errors of the console, failed answers, and requests to other machines.

    Args:
        context: The browser context whose pages are watched.
        address: The address of the dashboard, the only one that may be asked.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self._address = address
        self.faults: list[str] = []
        context.on("console", self._note_message)
        context.on("request", self._note_request)
        context.on("response", self._note_response)
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type}: {message.text}")

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self._address, "data:", "blob:")):
            self.faults.append(f"asked another machine: {request.url}")

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")


def heading(page: Page, text: str) -> None:
    """Wait until the page with this heading is shown, or its first paint."""
    page.get_by_role("heading", name=text, exact=True, level=1).wait_for()


@contextmanager
def holding(page: Page, words: str) -> Iterator[list[Route]]:
    """Hold back what the page asks of callbacks, until the block ends.

    Args:
        page: The page.
        words: Part of the body of what is held; everything else passes.

    Yields:
        What is held, oldest first.
    """
    held: list[Route] = []

    def hold(route: Route) -> None:
        if words in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route(_CALLBACKS, hold)
    yield held
    for route in held:  # while it still has a handler: afterwards it counts as answered
        route.continue_()
    page.unroute(_CALLBACKS)


def until_held(page: Page, held: list[Route]) -> None:
    """Wait until a request is held, of those that `holding` yields."""
    # Handlers run while the page is asked.
    wait_for(lambda: page.evaluate("true") and held, lambda: "nothing was asked")


def until_answered(page: Page) -> None:
    """Wait until all that the page asked of callbacks is answered and drawn."""
    wait_for(
        lambda: not page.evaluate(_LIST_PENDING),
        lambda: f"not answered: {page.evaluate(_LIST_PENDING)}",
    )

"""When a reader sees what was asked for, as the page itself tells it.

The time begins with the press of the pointer or the key (of a new page: with its navigation) and
ends after the frame that paints what was asked for. Playwright asks a page in steps of up to
500 ms, and moves and aims before it clicks; neither is time that a reader waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_MS = 120_000
LOOK_MS = 500
MARKS = """
(() => {
  let since = 0;
  const note = (event) => {
    if (since === null && event.isTrusted) since = event.timeStamp;
  };
  ["pointerdown", "keydown", "beforeinput"].forEach((kind) => addEventListener(kind, note, true));
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
  window.isShown = (selector) => [...document.querySelectorAll(selector)].some(isSeen);
  window.readText = (selector) => document.querySelector(selector)?.textContent;
  const findPaint = (isThere) =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done((performance.now() - since) / 1000);
      const look = () =>
        requestAnimationFrame(() => {
          if (since !== null && isThere()) port2.postMessage(null);
          else look();
        });
      look();
    });
  window.notePaints = (isNew, tests) => {
    since = isNew ? 0 : null;
    window.paints = null;
    Promise.all(tests.map(findPaint)).then((seconds) => { window.paints = seconds; });
  };
})();
"""
"""A task that is posted from a frame's callback runs when the frame has been painted."""


def shows(selector: str, *, is_drawn: bool = False) -> str:
    """Write the test that an element can be seen.

    Args:
        selector: Of the element.
        is_drawn: True if the first paint must be gone.
    """
    drawn = " && !document.querySelector('[data-first-paint]')" if is_drawn else ""
    return f"() => isShown({selector!r}){drawn}"


def changes(selector: str) -> str:
    """Write the test that an element has another text than at present.

    All of its text: what of a long list is rendered changes by scrolling alone.
    """
    return (
        f"((before) => () => {{ const now = readText({selector!r});"
        f" return now && now !== before; }})(readText({selector!r}))"
    )


def time_step(page: Page, act: Callable[[], None], tests: Sequence[str]) -> list[float]:
    """Let a reader act on a page, and measure until each test holds, in seconds.

    Args:
        page: With `MARKS`.
        act: Presses the pointer or a key once.
        tests: Expressions of functions in JavaScript.
    """
    page.wait_for_timeout(LOOK_MS)
    page.evaluate(f"() => {{ notePaints(false, [{', '.join(tests)}]); }}")
    act()
    return read_paints(page)


def time_opening(page: Page, address: str, tests: Sequence[str]) -> list[float]:
    """Open an address in a new page, and measure until each test holds, in seconds."""
    page.add_init_script(f"{MARKS}; notePaints(true, [{', '.join(tests)}]);")
    page.wait_for_timeout(LOOK_MS)  # a browser that opens a window is busy with that for a while
    page.goto(address, wait_until="commit")
    return read_paints(page)


def read_paints(page: Page) -> list[float]:
    """Wait until all that was asked for has been painted."""
    page.wait_for_function("() => window.paints", polling=100, timeout=PATIENCE_MS)
    paints: list[float] = page.evaluate("() => window.paints")
    return paints

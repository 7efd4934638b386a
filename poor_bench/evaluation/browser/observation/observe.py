"""Look at the page of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.evaluation.browser.observation.tree import compacted, without_passwords
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession

if TYPE_CHECKING:
    from playwright.sync_api import Page

_LONGEST_TEXT = 100_000
_LONGEST_TITLE = 200
_LONGEST_URL = 1000
_PASSWORDS = "fields => fields.map(field => field.value).filter(value => value)"
_VISIBLE_TEXT = f"() => (document.body?.innerText ?? '').slice(0, {_LONGEST_TEXT})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """View of a page for an agent, without secrets."""

    url: str
    title: str
    tree: str
    """See `tree`; empty where the page cannot be read."""
    text: str
    """All that is visible, as plain text."""
    notes: tuple[str, ...] = ()
    """Unrequested events, such as dialogs."""

    @property
    def fingerprint(self) -> int:
        """The same number within this process for pages that differ at most in their focus."""
        return hash((self.url, self.tree.replace(" [active]", "")))


def observe(session: BrowserSession) -> Observation:
    """Read the tab that is shown.

    Raises:
        AgentError: If the browser is gone.
        OutOfTimeError: If the time limit is reached.
        RunCancelledError: If the run was stopped.
    """
    clean = session.redactor.text
    notes = session.take_notes()
    try:
        with session.errors():
            page = session.page
            tree = compacted(page.aria_snapshot(mode="ai"))
            tree = clean(without_passwords(tree, _passwords(page)))
            return Observation(
                url=clean(page.url[:_LONGEST_URL]),
                title=clean(page.title()[:_LONGEST_TITLE]),
                tree=tree,
                text=clean(str(page.evaluate(_VISIBLE_TEXT))),
                notes=notes,
            )
    except ActionError as error:
        unreadable = f"the page cannot be read: {error}"
        return Observation(url="", title="", tree="", text="", notes=(*notes, unreadable))


def _passwords(page: Page) -> list[str]:
    return [
        value
        for frame in page.frames
        for value in frame.eval_on_selector_all("input[type=password]", _PASSWORDS)
    ]

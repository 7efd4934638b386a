"""Carry out the actions of an LLM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from poor_bench.evaluation.browser.actions import elements, pages
from poor_bench.evaluation.browser.actions.models import (
    Back,
    Click,
    Extract,
    Open,
    PageAction,
    Press,
    Scroll,
    Select,
    Type,
    Wait,
)
from poor_bench.evaluation.browser.observation.observe import Observation
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.opening import open_url
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.messages import counted

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_WAIT_FOR_TEXT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Stage:
    """Session and view that an action acts on."""

    session: BrowserSession
    seen: Observation
    keep: Callable[[str, Any], None]
    """Takes what is extracted: a key and a value."""

    def element(self, ref: str) -> Locator:
        """The element of a ref.

        Raises:
            ActionError: If the page has no such element any more.
        """
        with self.session.errors():
            element = self.session.page.locator(f"aria-ref={ref}")
            if f"[ref={ref}]" not in self.seen.tree or element.count() != 1:
                raise ActionError(f"element {ref} does not exist on the page")
        return element


@singledispatch
def perform(action: PageAction, stage: Stage) -> str:
    """Carry out an action and return what came of it, in words.

    Raises:
        ActionError: If the page does not allow it.
    """
    raise TypeError(f"nothing carries out {action!r} on {stage.seen.url}")


@perform.register
def _(action: Open, stage: Stage) -> str:
    open_url(stage.session, action.url)
    with stage.session.errors():
        stage.session.settle()
    return "opened"


@perform.register
def _(action: Click, stage: Stage) -> str:
    elements.click(stage.session, stage.element(action.ref))
    return "clicked"


@perform.register
def _(action: Type, stage: Stage) -> str:
    element = stage.element(action.ref)
    if action.credential:
        elements.fill_credential(stage.session, element, action.credential, submit=action.submit)
        return f"typed the credential {action.credential}"
    elements.fill(stage.session, element, action.text, submit=action.submit)
    return "typed"


@perform.register
def _(action: Select, stage: Stage) -> str:
    elements.select(stage.session, stage.element(action.ref), action.option)
    return "selected"


@perform.register
def _(action: Press, stage: Stage) -> str:
    pages.press(stage.session, action.key)
    return "pressed"


@perform.register
def _(action: Scroll, stage: Stage) -> str:
    pages.scroll(stage.session, action.direction)
    return "scrolled"


@perform.register
def _(action: Wait, stage: Stage) -> str:
    if action.text:
        with stage.session.errors():
            found = stage.session.page.get_by_text(action.text).first
            found.wait_for(timeout=_WAIT_FOR_TEXT_MS)
        return "the text is there"
    stage.session.wait(action.seconds)
    return "waited"


@perform.register
def _(_action: Back, stage: Stage) -> str:
    pages.go_back(stage.session)
    return "went back"


@perform.register
def _(action: Extract, stage: Stage) -> str:
    if action.ref is None:
        text = stage.seen.text
    else:
        text = elements.text_of(stage.session, stage.element(action.ref))
    stage.keep(action.key, text)
    return f"kept {counted(len(text), 'character')} as {action.key}"

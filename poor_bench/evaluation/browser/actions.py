"""What playbooks and LLMs do on a page: click, fill, select, press, scroll, go back."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from poor_bench.evaluation.browser.session import ActionError, BrowserSession

if TYPE_CHECKING:
    from playwright.sync_api import Locator


_DOTS = "field => { field.style.setProperty('-webkit-text-security', 'disc', 'important'); }"
_HOW_TO_FILL = """field => {
  const kind = (field.getAttribute('type') || '').toLowerCase();
  if (field.tagName === 'SELECT') return 'select';
  if (kind === 'checkbox' || kind === 'radio') return 'click';
  return 'fill';
}"""
_OPTIONS = "field => [...(field.options || [])].map(option => [option.label, option.value])"
_KIND_OF_CLICK = """element => {
  if (element.tagName === 'OPTION') return 'option';
  const link = element.closest('a[href][target]');
  return link && !['', '_self', '_top', '_parent'].includes(link.target) ? 'new tab' : 'plain';
}"""
_NEW_TAB_MS = 3_000
_IS_FIELD = "element => ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)"
_LONGEST_TEXT = 20_000


def click(session: BrowserSession, element: Locator) -> None:
    """Click an element, and wait for what comes of it."""
    with session.errors():
        kind = element.evaluate(_KIND_OF_CLICK)
        if kind == "option":
            value = str(element.evaluate("option => option.value"))
            element.locator("xpath=ancestor::select").select_option(value=value)
        elif kind == "new tab":
            _click_for_new_tab(session, element)
        else:
            element.click()
        session.settle()


def _click_for_new_tab(session: BrowserSession, element: Locator) -> None:
    """Click a link that opens a tab, and wait for the tab if it comes."""
    from playwright.sync_api import TimeoutError as TookTooLongError

    context = session.page.context
    n_tabs = len(context.pages)
    element.click()
    if len(context.pages) == n_tabs:
        with suppress(TookTooLongError):
            context.wait_for_event("page", timeout=_NEW_TAB_MS)


def type_into(
    session: BrowserSession, element: Locator, text: str, credential: str | None, *, submit: bool
) -> str:
    """Put a text, or the value of a credential, into a field; return what was done, in words.

    Raises:
        ActionError: If it is not a text field, or the credential does not belong there.
    """
    if credential:
        fill_credential(session, element, credential, submit=submit)
        return f"typed the credential {credential}"
    fill(session, element, text, submit=submit)
    return "typed"


def fill(session: BrowserSession, element: Locator, text: str, *, submit: bool = False) -> None:
    """Put a text into a field in place of what it holds; optionally press Enter there."""
    with session.errors():
        how = element.evaluate(_HOW_TO_FILL)
        if how != "fill":
            raise ActionError(f"this is not a text field; use `{how}`")
        element.fill(text)
        _submit(session, element if submit else None)


def fill_credential(
    session: BrowserSession, element: Locator, name: str, *, submit: bool = False
) -> None:
    """Put the value of a credential into a field, which shows dots from then on.

    The origin is that of the very document that the field is in; if it is replaced meanwhile,
    the field is gone and nothing is typed.

    Raises:
        ActionError: If the credential does not belong to the document's origin.
    """
    with session.errors():
        field = element.element_handle()
        frame = field.owner_frame()
        value = session.credentials.value_for(name, "" if frame is None else frame.url)
        session.has_typed_credentials = True
        field.evaluate(_DOTS)
        field.fill(value)
        _submit(session, element if submit else None)


def _submit(session: BrowserSession, field: Locator | None) -> None:
    if field is not None:
        field.press("Enter")
        session.settle()


def select(session: BrowserSession, element: Locator, option: str) -> None:
    """Choose the option with this label, or else with this value."""
    with session.errors():
        options: list[list[str]] = element.evaluate(_OPTIONS)
        wanted = option.strip()
        labels = [label.strip() for label, _ in options]
        among = labels if wanted in labels else [value for _, value in options]
        if wanted not in among:
            known = ", ".join(map(repr, labels[:20])) or "none"
            raise ActionError(f"option {wanted!r} does not exist; known: {known}")
        element.select_option(index=among.index(wanted))
        session.settle()


def read_text(session: BrowserSession, element: Locator) -> str:
    """Read the visible text of an element, or the value of a field, without secrets."""
    with session.errors():
        is_field = element.evaluate(_IS_FIELD)
        is_secret = is_field and element.get_attribute("type") == "password"
        text = "" if is_secret else element.input_value() if is_field else element.inner_text()
        return session.redactor.text(text)[:_LONGEST_TEXT]


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

"""The actions on a page, and the form in which an LLM chooses one.

Playbooks call the functions with an element that they have found. An LLM chooses one of the models,
which `perform` carries out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from poor_bench.evaluation.browser.observation import REF, PageView
from poor_bench.evaluation.browser.opening import visit
from poor_bench.evaluation.browser.session import ActionError, BrowserSession
from poor_bench.messages import write_count

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


Ref = Annotated[str, StringConstraints(pattern=REF.pattern, strip_whitespace=True)]
Text = Annotated[str, StringConstraints(max_length=20_000)]


class _Action(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Open(_Action):
    """Open a URL."""

    action: Literal["open"]
    url: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Click(_Action):
    """Click an element."""

    action: Literal["click"]
    ref: Ref


class Type(_Action):
    """Put a text, or the value of a credential, into a field in place of what it holds."""

    action: Literal["type"]
    ref: Ref
    text: Text = ""
    credential: str | None = None
    submit: bool = False


class Select(_Action):
    """Choose an option of a list by its label or value."""

    action: Literal["select"]
    ref: Ref
    option: Text


class Press(_Action):
    """Press a key, such as `Enter`, `Escape` or `Control+a`."""

    action: Literal["press"]
    key: Annotated[str, StringConstraints(min_length=1, max_length=40)]


class Scroll(_Action):
    """Scroll the page."""

    action: Literal["scroll"]
    direction: Literal["down", "up"] = "down"


class Wait(_Action):
    """Wait for a text to appear, or for a while."""

    action: Literal["wait"]
    text: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=10)] = 1.0


class Back(_Action):
    """Go back to the page before."""

    action: Literal["back"]


class Extract(_Action):
    """Keep the text of an element, or of the whole page, as data."""

    action: Literal["extract"]
    key: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    ref: Ref | None = None


class Done(_Action):
    """Finish: the task is done, or cannot be done."""

    action: Literal["done"]
    success: bool = True
    summary: Text
    data: dict[str, Any] = Field(default_factory=dict)


PageAction = Open | Click | Type | Select | Press | Scroll | Wait | Back | Extract
AnyAction = Annotated[PageAction | Done, Field(discriminator="action")]
ACTION: TypeAdapter[PageAction | Done] = TypeAdapter(AnyAction)
ACTION_TYPES: tuple[type[_Action], ...] = (
    Click, Type, Select, Press, Scroll, Wait, Back, Extract, Open, Done,
)  # fmt: skip
"""The most useful ones first: small models tend to take what is named first."""


_WAIT_FOR_TEXT_MS = 10_000


@dataclass(frozen=True, slots=True)
class ActionContext:
    """Session and view that an action acts on."""

    session: BrowserSession
    seen: PageView
    keep: Callable[[str, Any], None]
    """Takes what is extracted: a key and a value."""

    def element(self, ref: str) -> Locator:
        """Find the element of a ref.

        Raises:
            ActionError: If the page does not have it any more.
        """
        with self.session.errors():
            element = self.session.page.locator(f"aria-ref={ref}")
            if f"[ref={ref}]" not in self.seen.tree or element.count() != 1:
                raise ActionError(f"element {ref} does not exist on the page")
        return element


def perform(action: PageAction, context: ActionContext) -> str:
    """Carry out an action and return its result, in words.

    Raises:
        ActionError: If the page does not allow it.
    """
    session = context.session
    match action:
        case Open():
            visit(session, action.url)
            result = "opened"
        case Click():
            click(session, context.element(action.ref))
            result = "clicked"
        case Type():
            element = context.element(action.ref)
            submit = action.submit
            result = type_into(session, element, action.text, action.credential, submit=submit)
        case Select():
            select(session, context.element(action.ref), action.option)
            result = "selected"
        case Press():
            press(session, action.key)
            result = "pressed"
        case Scroll():
            scroll(session, action.direction)
            result = "scrolled"
        case Wait():
            result = _wait(action, session)
        case Back():
            go_back(session)
            result = "went back"
        case Extract():
            result = _extract(action, context)
    return result


def _wait(action: Wait, session: BrowserSession) -> str:
    if action.text:
        with session.errors():
            session.page.get_by_text(action.text).first.wait_for(timeout=_WAIT_FOR_TEXT_MS)
        return "the text is there"
    session.wait(action.seconds)
    return "waited"


def _extract(action: Extract, context: ActionContext) -> str:
    if action.ref is None:
        text = context.seen.text
    else:
        text = read_text(context.session, context.element(action.ref))
    context.keep(action.key, text)
    return f"kept {write_count(len(text), 'character')} as {action.key}"

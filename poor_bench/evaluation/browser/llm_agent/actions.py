"""The actions that an LLM may choose from, and how they are carried out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from poor_bench.evaluation.browser.actions import (
    click,
    go_back,
    press,
    read_text,
    scroll,
    select,
    type_into,
)
from poor_bench.evaluation.browser.observation import REF, PageView
from poor_bench.evaluation.browser.opening import visit
from poor_bench.evaluation.browser.session import ActionError, BrowserSession
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from playwright.sync_api import Locator


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

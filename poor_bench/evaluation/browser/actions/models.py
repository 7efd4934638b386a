"""The actions that an LLM may choose from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from poor_bench.evaluation.browser.observation.tree import REF

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

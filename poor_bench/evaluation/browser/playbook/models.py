"""The playbook file.

```yaml
version: "1.0"
name: Cancel an order
params:
  order: "1002"          # a default; null if the case must set it
steps:
  - open: "{server}/orders"
  - click: {role: link, name: "Order {order}"}
  - type: {label: Reason, value: "too late", submit: true}
  - wait: {text: Cancelled}
  - extract: {key: order.status, css: "#status"}
  - done: {summary: "Order {order} is cancelled."}
```
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from poor_bench.config.file_models import FileModel, Name

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]
ParamName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]*$")]


class Target(FileModel):
    """An element; the step waits for it. It must be the only match, unless `nth` is set."""

    role: Name | None = Field(None, description="ARIA role, such as button; goes with `name`.")
    name: str | None = Field(None, description="Accessible name; goes with `role`.")
    label: str | None = Field(None, description="Text of the label of a field.")
    placeholder: str | None = None
    text: str | None = Field(None, description="Text of the element.")
    css: str | None = Field(None, description="CSS selector; the last resort.")
    frame: str | None = Field(None, description="CSS selector of its frame.")
    exact: bool = Field(
        True, description="False matches a part of name, label or text, ignoring case."
    )
    nth: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Number among several matches, from 1."
    )
    ways: ClassVar[tuple[str, ...]] = ("role", "label", "placeholder", "text", "css")


class TypeStep(Target):
    """Put a value into a field."""

    value: str = ""
    credential: Name | None = Field(None, description="Environment variable, instead of `value`.")
    submit: bool = Field(False, description="Press Enter afterwards.")


class SelectStep(Target):
    """Choose an option by label or value."""

    option: str


class WaitStep(Target):
    """Wait for an element, or for some seconds."""

    seconds: Annotated[float, Field(ge=0, le=60)] | None = None
    absent: bool = Field(False, description="Wait until it is gone.")


class ExpectStep(Target):
    """A condition; the playbook fails unless it holds."""

    absent: bool = Field(False, description="The element must not exist.")
    url_contains: str | None = None
    title_contains: str | None = None


class ExtractStep(Target):
    """Keep the text of an element, or of the page, as data."""

    key: Key
    attribute: Name | None = Field(None, description="An attribute instead of the text.")
    pattern: str | None = Field(None, description="Regular expression; its first group is kept.")
    all: bool = Field(False, description="Keep a list of all matches.")


class CaptureStep(Target):
    """Fill parameters from the text of an element, or of the page, for the steps that follow."""

    pattern: str = Field(description="Regular expression; each named group fills a parameter.")


class ForEachStep(FileModel):
    """Repeat steps for each part of a text."""

    param: ParamName
    of: str
    separator: str = ", "
    steps: Annotated[list[PlaybookStep], Field(min_length=1)]


class WhenStep(Target):
    """Do steps only if an element exists at this moment."""

    steps: Annotated[list[PlaybookStep], Field(min_length=1)]


class DoneStep(FileModel):
    """End with success."""

    summary: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class PlaybookStep(FileModel):
    """One step: exactly one of these keys."""

    open: str | None = None
    click: Target | None = None
    type: TypeStep | None = None
    select: SelectStep | None = None
    press: str | None = Field(None, description="A key, such as Enter.")
    scroll: Literal["down", "up"] | None = None
    back: Literal[True] | None = None
    wait: WaitStep | None = None
    expect: ExpectStep | None = None
    extract: ExtractStep | None = None
    capture: CaptureStep | None = None
    for_each: ForEachStep | None = None
    when: WhenStep | None = None
    done: DoneStep | None = None


class PlaybookFile(FileModel):
    """A whole playbook."""

    version: str | float = "1.0"
    name: Name
    description: str = ""
    params: dict[ParamName, str | int | float | bool | None] = Field(default_factory=dict)
    steps: Annotated[list[PlaybookStep], Field(min_length=1)]

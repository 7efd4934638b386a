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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, StringConstraints

from poor_bench.config.file_models import FileModel, Name
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError

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


SERVER = "server"
"""A parameter that every playbook has: the address of the suite's own server."""


@dataclass(frozen=True, slots=True)
class PlaybookAction:
    """One step."""

    kind: str
    """Its key, such as `click`."""
    content: FileModel | str | bool
    line: int | None
    steps: tuple[PlaybookAction, ...] = ()
    """Of `for_each` and `when`."""


@dataclass(frozen=True, slots=True)
class Playbook:
    """Steps, and the parameters that they need."""

    name: str
    params: Mapping[str, str | None]
    """With defaults; None where the case has to give a value."""
    steps: tuple[PlaybookAction, ...]

    def params_with(self, given: Mapping[str, object]) -> dict[str, str]:
        """The value of every parameter, as text.

        Raises:
            ConfigError: If one is missing, or the playbook does not know one.
        """
        for name in given:
            if name not in self.params and name != SERVER:
                hint = name_hint(name, list(self.params))
                raise ConfigError(
                    f"the playbook {self.name!r} does not have a parameter {name!r}", hint=hint
                )
        values = {**self.params, **{name: str(value) for name, value in given.items()}}
        missing = [name for name, value in values.items() if value is None]
        if missing:
            raise ConfigError(
                f"the playbook {self.name!r} needs the parameters {', '.join(missing)}",
                hint="set them in `playbook_params`",
            )
        return {name: value for name, value in values.items() if value is not None}


Model = TypeVar("Model", bound=FileModel)

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def names_in(value: Any) -> Iterator[str]:
    """Yield the names of all placeholders in the texts of JSON-like data."""
    if isinstance(value, str):
        yield from _PLACEHOLDER.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from names_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_in(item)


def filled(value: Any, params: Mapping[str, str]) -> Any:
    """JSON-like data with the placeholders filled whose names are known.

    Example:
        >>> filled({"open": "{server}/orders/{id}"}, {"server": "http://a", "id": "7"})
        {'open': 'http://a/orders/7'}
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: params.get(found[1], found[0]), value)
    if isinstance(value, Mapping):
        return {key: filled(item, params) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, params) for item in value]
    return value


def filled_model(model: Model, params: Mapping[str, str]) -> Model:
    """A step with its placeholders filled."""
    return type(model).model_validate(filled(model.model_dump(exclude_unset=True), params))

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
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, StringConstraints

from poor_bench.config.file_models import FileModel, Name
from poor_bench.config.nearest_name import name_hint
from poor_bench.config.report import Place
from poor_bench.errors import ConfigError
from poor_bench.evaluation.data import map_texts

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]
ParamName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]*$")]
SERVER = "server"
"""A parameter that every playbook has: the address of the suite's own server."""
_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


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
    all_ways: ClassVar[tuple[str, ...]] = ("role", "label", "placeholder", "text", "css")

    @property
    def ways(self) -> list[str]:
        """Ways in which it names an element; steps about the whole page have none."""
        return [way for way in self.all_ways if getattr(self, way) is not None]


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
    _line: int | None = PrivateAttr(None)

    @property
    def kind(self) -> str:
        """Its key, such as `click`; empty in a broken step."""
        return next(iter(self.model_fields_set), "")

    @property
    def content(self) -> FileModel | str | bool:
        """Value of its key."""
        content: FileModel | str | bool = getattr(self, self.kind, "")
        return content

    @property
    def line(self) -> int | None:
        """Its line in the file."""
        return self._line

    def note_lines(self, place: Place, line_of: Callable[[Place], int | None]) -> None:
        """Note the lines of this step, which stands at `place`, and of the steps inside it."""
        self._line = line_of(place)
        if isinstance(self.content, ForEachStep | WhenStep):
            for at, step in enumerate(self.content.steps):
                step.note_lines((*place, self.kind, "steps", at), line_of)


class Playbook(FileModel):
    """A whole playbook."""

    version: str | float = "1.0"
    name: Name
    description: str = ""
    params: dict[ParamName, str | int | float | bool | None] = Field(default_factory=dict)
    steps: Annotated[list[PlaybookStep], Field(min_length=1)]

    def params_with(self, given: Mapping[str, object]) -> dict[str, str]:
        """Combine defaults and values of the case; return every parameter as text.

        Raises:
            ConfigError: If one is missing, or the playbook does not know one.
        """
        for name in given:
            if name not in self.params and name != SERVER:
                message = f"the playbook {self.name!r} does not have a parameter {name!r}"
                raise ConfigError(message, hint=name_hint(name, list(self.params)))
        values = {
            **{name: None if value is None else str(value) for name, value in self.params.items()},
            **{name: str(value) for name, value in given.items()},
        }
        missing = [name for name, value in values.items() if value is None]
        if missing:
            message = f"the playbook {self.name!r} needs the parameters {', '.join(missing)}"
            raise ConfigError(message, hint="set them in `playbook_params`")
        return {name: value for name, value in values.items() if value is not None}


def find_placeholders(value: Any) -> list[str]:
    """Find the names of all placeholders in the texts of JSON-like data."""
    found: list[str] = []

    def note(text: str) -> str:
        found.extend(_PLACEHOLDER.findall(text))
        return text

    map_texts(value, note)
    return found


def fill_placeholders(value: Any, params: Mapping[str, str]) -> Any:
    """Fill the placeholders whose names are known in a step or in JSON-like data.

    Example:
        >>> fill_placeholders({"open": "{server}/orders/{id}"}, {"server": "http://a", "id": "7"})
        {'open': 'http://a/orders/7'}
    """
    if isinstance(value, FileModel):
        plain = value.model_dump(exclude_unset=True)
        return type(value).model_validate(fill_placeholders(plain, params))
    return map_texts(
        value, lambda text: _PLACEHOLDER.sub(lambda found: params.get(found[1], found[0]), text)
    )

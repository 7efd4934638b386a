"""The playbook file: its form, where it is found, and all its problems with their lines.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, StringConstraints

from poor_bench.config.document import Document, Place, Report, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.file_models import FileModel, Name
from poor_bench.config.load import raise_errors
from poor_bench.config.names import name_hint
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError
from poor_bench.evaluation.checks import map_texts
from poor_bench.models.problem import Problem
from poor_bench.safe_files import require_within

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


SUFFIX = ".yaml"
_PACKAGE = Path(__file__).parents[2]
_SHIPPED = (_PACKAGE.parent / "data" / "playbooks", _PACKAGE / "built_in_playbooks")
"""In the project, and in the package that `setup.py` builds."""


def list_playbook_folders(data_dir: Path) -> tuple[Path, ...]:
    """List the folders of playbooks that have a name; the first match wins."""
    return data_dir / "playbooks", *_SHIPPED


def find_playbook(written: str, data_dir: Path, suite_folder: Path) -> Path | None:
    """Find the playbook of a case; None if it does not exist.

    Args:
        written: A name such as `shop_search`; with a slash or an ending, a path that starts at
            the folder of the suite. It may lead to that folder, a folder `suites` around it, or
            the workspace, and nowhere else.
        data_dir: Folder of the workspace.
        suite_folder: Folder of the suite file.
    """
    if _is_path(written):
        candidates = _resolve(written, data_dir, suite_folder)
    else:
        candidates = (folder / f"{written}{SUFFIX}" for folder in list_playbook_folders(data_dir))
    return next((path for path in candidates if path.is_file()), None)


def _resolve(written: str, data_dir: Path, suite_folder: Path) -> Iterator[Path]:
    is_in_workspace = suite_folder.name == "suites"
    for folder in (suite_folder.parent if is_in_workspace else suite_folder, data_dir):
        with suppress(PermissionError):
            yield require_within(folder, written, start=suite_folder)


def explain_missing_playbook(written: str, data_dir: Path) -> str:
    """Say how to name a playbook where `find_playbook` finds none."""
    if _is_path(written):
        return "A path starts at the folder of the suite and stays inside the workspace."
    return name_hint(written, list_playbooks(data_dir))


def _is_path(written: str) -> bool:
    return "/" in written or written.endswith(SUFFIX)


def list_playbooks(data_dir: Path) -> list[str]:
    """List the names of all playbooks."""
    folders = list_playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})


def load_playbook(path: Path) -> Playbook:
    """Read a playbook.

    Raises:
        ConfigError: With every problem of the file, if it has one.
    """
    playbook, problems = read_playbook(path)
    raise_errors(problems)
    assert playbook is not None
    return playbook


def read_playbook(path: Path) -> tuple[Playbook | None, list[Problem]]:
    """Read a playbook, None if it is broken, with its problems."""
    document, report = open_document(path, parse_yaml)
    playbook = None if document is None else _decode(document, report)
    return playbook, report.problems


def _decode(document: Document, report: Report) -> Playbook | None:
    raw = document.data
    if not isinstance(raw, dict):
        report.error((), "must be a mapping with `name` and `steps`", code="bad-type")
        return None
    check_version(raw, report)
    playbook = validate_entry(Playbook, raw, (), report)
    if playbook is not None:
        _check_steps(playbook.steps, ("steps",), set(playbook.params), report)
        for at, step in enumerate(playbook.steps):
            step.note_lines(("steps", at), document.line_of)
    return playbook


def _check_steps(steps: list[PlaybookStep], place: Place, params: set[str], report: Report) -> None:
    """Check steps in their order.

    Args:
        steps: Of a playbook, or of a step that holds others.
        place: Where they stand.
        params: What placeholders may name; steps that fill parameters add theirs.
        report: Where problems are noted.
    """
    for at, step in enumerate(steps):
        kinds = sorted(step.model_fields_set)
        if len(kinds) == 1:
            _check_content(step.content, (*place, at, step.kind), params, report)
            continue
        written = " and ".join(f"`{kind}`" for kind in kinds) or "none"
        hint = f"use one of {', '.join(PlaybookStep.model_fields)}"
        message = f"a step must have exactly one key, not {written}"
        report.error((*place, at), message, hint=hint, code="bad-step")


def _check_content(content: object, place: Place, params: set[str], report: Report) -> None:
    plain = content.model_dump(exclude={"steps"}) if isinstance(content, FileModel) else content
    for name in find_placeholders(plain):
        if name not in params | {SERVER}:
            hint = name_hint(name, sorted(params))
            message = f"parameter `{name}` does not exist"
            report.error(place, message, hint=hint, code="unknown-param")
    if isinstance(content, Target):
        _check_target(content, place, report)
    if isinstance(content, ExtractStep | CaptureStep):
        _check_pattern(content, (*place, "pattern"), params, report)
    if isinstance(content, ForEachStep):
        _check_steps(content.steps, (*place, "steps"), params | {content.param}, report)
    elif isinstance(content, WhenStep):
        _check_steps(content.steps, (*place, "steps"), params, report)


def _check_target(target: Target, place: Place, report: Report) -> None:
    if len(target.ways) > 1:
        message = f"use one way to find the element, not {' and '.join(target.ways)}"
        report.error(place, message, code="bad-target")
    if target.name is not None and "role" not in target.ways:
        report.error(place, "`name` goes with `role`", code="bad-target")
    if not target.ways and not _may_go_without(target):
        hint = f"use one of {', '.join(Target.all_ways)}"
        report.error(place, "the element is missing", hint=hint, code="bad-target")


def _check_pattern(
    step: ExtractStep | CaptureStep, place: Place, params: set[str], report: Report
) -> None:
    if step.pattern is None:
        return
    try:
        names = re.compile(step.pattern).groupindex
    except re.error as error:
        report.error(place, f"is not a regular expression: {error}", code="bad-pattern")
        return
    if isinstance(step, CaptureStep):
        params |= set(names)
        if not names:
            hint = "name a group, such as (?P<order>[0-9]+)"
            message = "captures nothing: it does not have a named group"
            report.error(place, message, hint=hint, code="bad-pattern")


def _may_go_without(step: Target) -> bool:
    """True if a step makes sense without an element: about the page, or about time."""
    if isinstance(step, WaitStep):
        return step.seconds is not None
    if isinstance(step, ExpectStep):
        return step.url_contains is not None or step.title_contains is not None
    if isinstance(step, ExtractStep):
        return step.attribute is None and not step.all
    return isinstance(step, CaptureStep)

"""Add an entry to a YAML file, or change one of its texts; comments and the form of the rest stay.

ruamel.yaml writes the file anew, indented as most of it was. A file is changed only if it then says
what it said before, but for the change, by our own parser.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from poor_bench.config.agent_entries import AGENTS_FOLDER
from poor_bench.config.document import (
    Document,
    Report,
    UnreadableError,
    lock_for_writing,
    open_document,
    read_text,
    write_atomically,
)
from poor_bench.config.load import TEST_CLASSES_FILE, decode_test_classes_file, raise_errors
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError

Check = Callable[[Document, Report], object]
"""Notes what is wrong with a file as it is, or as it would be."""
Style = Callable[[Any], Any]
"""Gives new data the form in which it is written."""
Change = Callable[[Any, Style], bool]
"""Alters the content of a file; returns False where it cannot."""

_TEMPLATE = ("work_prompt_template", "default")
_SYSTEM_PROMPT = ("system_prompt",)
_INDENTS = ((2, 0), (4, 2), (6, 4))
"""Columns from a list's key to the texts of its entries, and to their dashes."""


def append_entry(path: Path, key: str, entry: Mapping[str, Any], check: Check) -> None:
    """Write an entry behind the last one of a list, if `check` then finds no error.

    Args:
        path: The file.
        key: The key under which the list stands.
        entry: Plain data.
        check: Notes what is wrong with the changed file.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, is of a form that
            cannot be added to, or cannot be written; it is untouched then.
    """

    def append(data: Any, style: Style) -> bool:
        entries = data.get(key) if isinstance(data, dict) else None
        if isinstance(entries, list):
            entries.append(style(dict(entry)))
        return isinstance(entries, list)

    hint = f"add it by hand:\n{_dump([_read_back(dict(entry))])}"
    _edit(path, append, check, refusal="an entry cannot be added to a list of this form", hint=hint)


def change_template(data_dir: Path, class_id: str, template: str) -> None:
    """Write another default template; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        template: The text, with placeholders.

    Raises:
        ConfigError: If the template does not exist, or the file, as it was or as it
            would be, has an error, or cannot be written; it is untouched then.
    """
    _change_class(data_dir, class_id, _TEMPLATE, template)


def change_system_prompt(data_dir: Path, class_id: str, prompt: str) -> None:
    """Write another system prompt of a class that has one; comments and the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        prompt: The text.

    Raises:
        ConfigError: If the prompt does not exist, or the file, as it was or as it would
            be, has an error, or cannot be written; it is untouched then.
    """
    _change_class(data_dir, class_id, _SYSTEM_PROMPT, prompt)


def change_agent_prompt(data_dir: Path, agent_id: str, prompt: str) -> None:
    """Write another system prompt of an agent; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        agent_id: Which agent.
        prompt: The text.

    Raises:
        ConfigError: If the agent does not exist, or its file cannot be read or written; it is
            untouched then.
    """
    _edit(
        find_agent_file(data_dir, agent_id),
        lambda data, style: _put(data, _SYSTEM_PROMPT, style(prompt)),
        lambda _document, _report: None,
        refusal="has a system_prompt that cannot be changed here",
        hint="Change it in the file.",
    )


def find_agent_file(data_dir: Path, agent_id: str) -> Path:
    """Find the file of an agent.

    Raises:
        ConfigError: If the agent does not exist, or a file cannot be read.
    """
    for path in sorted((data_dir / AGENTS_FOLDER).glob("*.yaml")):
        if _read_agent_id(path) == agent_id:
            return path
    raise ConfigError(f"the agent {agent_id!r} does not exist in {data_dir / AGENTS_FOLDER}")


def _change_class(data_dir: Path, class_id: str, place: Sequence[str], new: str) -> None:
    def change(data: Any, style: Style) -> bool:
        entries = data.get("test_classes", []) if isinstance(data, dict) else data
        found = next((entry for entry in entries if entry.get("id") == class_id), None)
        return _put(found, place, style(new))

    _edit(
        data_dir / TEST_CLASSES_FILE,
        change,
        decode_test_classes_file,
        refusal=f"class {class_id!r} has no {place[0]} that can be changed here",
        hint="Change it in the file.",
    )


def _put(data: Any, place: Sequence[str], new: str) -> bool:
    """Replace a text; False where none stands at this place."""
    *outer, last = place
    for key in outer:
        data = data.get(key) if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get(last), str):
        return False
    data[last] = new
    return True


def _read_agent_id(path: Path) -> str:
    try:
        data = parse_yaml(read_text(path)).data
    except UnreadableError as error:
        raise ConfigError(f"{path}: {error}") from error
    return str(data.get("id") or path.stem) if isinstance(data, dict) else path.stem


def _edit(path: Path, change: Change, check: Check, *, refusal: str, hint: str) -> None:
    with lock_for_writing(path):
        document, report = open_document(path, parse_yaml)
        if document is not None:
            check(document, report)
        raise_errors(report.problems)
        assert document is not None
        changed = _change_text(read_text(path), document.data, change)
        if changed is None:
            raise ConfigError(f"{path}: {refusal}", hint=hint)
        report = Report(str(path))
        check(parse_yaml(changed), report)
        raise_errors(report.problems)
        write_atomically(path, changed)


def _change_text(before: str, data: Any, change: Change) -> str | None:
    """Write a file anew with a change; None where that cannot be done."""
    wanted = deepcopy(data)
    if not change(wanted, deepcopy):
        return None
    for style in (_read_back, _quote):
        text = _rewrite(before, change, style)
        if text is not None and _says(text, wanted):
            return text
    return None


def _rewrite(before: str, change: Change, style: Style) -> str | None:
    from ruamel.yaml.error import YAMLError

    try:
        indent = _find_indentation(before)
        content = _make_yaml(indent).load(before)
        change(content, style)
        return _dump(content, indent)
    except YAMLError:  # it is stricter than our parser, and cannot write every text in each style
        return None


def _find_indentation(text: str) -> tuple[int, int]:
    """Find the indentation that keeps most lines of a file as they are."""
    lines = set(text.splitlines())

    def n_kept(indent: tuple[int, int]) -> int:
        return len(lines & set(_dump(_make_yaml(indent).load(text), indent).splitlines()))

    return max(_INDENTS, key=n_kept)


def _says(text: str, wanted: Any) -> bool:
    try:
        return bool(parse_yaml(text).data == wanted)
    except UnreadableError:
        return False


def _make_yaml(indent: tuple[int, int]) -> Any:
    from ruamel.yaml import YAML

    yaml = YAML()  # keeps comments, quotes and the style of each part
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # a long line of the user's stays one
    yaml.indent(mapping=2, sequence=indent[0], offset=indent[1])
    return yaml


def _dump(data: Any, indent: tuple[int, int] = _INDENTS[0]) -> str:
    stream = io.StringIO()
    _make_yaml(indent).dump(data, stream)
    return stream.getvalue()


def _read_back(value: Any) -> Any:
    """Write texts of several lines as literal blocks, and those like numbers in quotes."""
    from ruamel.yaml.scalarstring import LiteralScalarString, SingleQuotedScalarString

    def style(text: str) -> Any:
        if "\n" in text.strip():
            return LiteralScalarString(text)
        if text[:1] in set("+-.0123456789"):
            return SingleQuotedScalarString(text)
        return text

    return _replace_texts(value, style)


def _quote(value: Any) -> Any:
    """Write texts in double quotes, the one form that can hold every text."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    return _replace_texts(value, DoubleQuotedScalarString)


def _replace_texts(value: Any, style: Callable[[str], Any]) -> Any:
    if isinstance(value, str):
        return style(value)
    if isinstance(value, dict):
        return {key: _replace_texts(item, style) for key, item in value.items()}
    return [_replace_texts(item, style) for item in value] if isinstance(value, list) else value

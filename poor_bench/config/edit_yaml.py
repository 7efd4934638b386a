"""Add an entry to a YAML file, or change one of its texts; every other byte is kept.

A library that writes a whole file anew keeps its comments, but not the form of what stands around
the change; a one-line change would then be a diff of many lines.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.config.agent_entries import AGENTS_FOLDER
from poor_bench.config.document import (
    Document,
    UnreadableError,
    locked_for_writing,
    open_document,
    read_text,
    write_atomically,
)
from poor_bench.config.load import TEST_CLASSES_FILE, decode_test_classes_file, raise_errors
from poor_bench.config.report import Report
from poor_bench.config.yaml_document import compose, parse_yaml
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    import yaml


def append_entry(
    path: Path,
    key: str,
    entry: Mapping[str, Any],
    check: Callable[[Document, Report], object],
) -> None:
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
    with locked_for_writing(path):
        document, report = open_document(path, parse_yaml)
        if document is not None:
            check(document, report)
        raise_errors(report.problems)
        assert document is not None
        changed = _with_entry(read_text(path), key, entry)
        if changed is None or not _holds_exactly(changed, document.data, key, entry):
            message = f"{path}: an entry cannot be added to a list of this form"
            raise ConfigError(message, hint=f"add it by hand:\n{_dump(entry)}")
        report = Report(str(path))
        check(parse_yaml(changed), report)
        raise_errors(report.problems)
        write_atomically(path, changed)


def _with_entry(text: str, key: str, entry: Mapping[str, Any]) -> str | None:
    """Return `text` with the entry added; None where there is no list."""
    entries = _value_of(compose(text), key)
    if entries is None or not isinstance(entries.value, list):
        return None
    start, end = entries.start_mark, entries.end_mark
    if not entries.value:
        written = textwrap.indent(_dump(entry), "  ")
        return f"{text[: start.index].rstrip()}\n{written.rstrip()}{text[end.index :]}"
    if entries.flow_style:
        before = text[: end.index - 1].rstrip().removesuffix(",")
        return f"{before},\n{json.dumps(entry, ensure_ascii=False)}{text[end.index - 1 :]}"
    written = textwrap.indent(_dump(entry), " " * start.column)
    gap = "\n" if text[end.index :] else ""
    return f"{text[: end.index].rstrip()}\n\n{written}{gap}{text[end.index :]}"


def _value_of(root: yaml.Node | None, key: str) -> yaml.CollectionNode | None:
    import yaml

    if not isinstance(root, yaml.MappingNode):
        return None
    return next((value for name, value in root.value if name.value == key), None)


def _holds_exactly(text: str, before: Any, key: str, entry: Mapping[str, Any]) -> bool:
    try:
        return bool(parse_yaml(text).data == {**before, key: [*before[key], entry]})
    except UnreadableError:
        return False


def _dump(entry: Mapping[str, Any]) -> str:
    import yaml

    class BlockDumper(yaml.SafeDumper):
        """Writes texts of several lines as literal blocks."""

    BlockDumper.add_representer(str, _represent_text)
    return yaml.dump(
        [dict(entry)], Dumper=BlockDumper, sort_keys=False, allow_unicode=True, width=100
    )


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    looks_like_number = text[:1] in set("+-.0123456789")
    style = "|" if "\n" in text else "'" if looks_like_number else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def value_at(node: yaml.Node | None, path: Sequence[str]) -> yaml.Node | None:
    """Return what stands under some keys, one below the other; None where nothing does."""
    import yaml

    for key in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for name, value in node.value if name.value == key), None)
    return node


def with_text(document: str, scalar: yaml.ScalarNode, new: str) -> str:
    """Return a document with another text in the place of a scalar.

    A text of several lines is written as a literal block where that says exactly the same, else as
    a double-quoted scalar, which JSON's form is.
    """
    start, end = scalar.start_mark.index, scalar.end_mark.index
    old = document[start:end]
    gap = old[len(old.rstrip()) :]
    quoted = f"{document[:start]}{json.dumps(new, ensure_ascii=False)}{gap}{document[end:]}"
    block = _block(document, scalar, new)
    is_whole_line = "\n" in gap or document[end : end + 1] in {"", "\n"}
    if block is None or not is_whole_line:
        return quoted
    literal = f"{document[:start]}{block}{gap or ''}{document[end:]}"
    return literal if _says_the_same(literal, quoted) else quoted


def _block(document: str, scalar: yaml.ScalarNode, new: str) -> str | None:
    """Return a text as a literal block; None where it has no lines to be shown."""
    if "\n" not in new.strip():
        return None
    line_start = document.rfind("\n", 0, scalar.start_mark.index) + 1
    line = document[line_start : scalar.start_mark.index]
    indent = len(line) - len(line.lstrip(" -")) + 2
    keep = "+" if new.endswith("\n\n") else "" if new.endswith("\n") else "-"
    body = textwrap.indent(new.rstrip("\n"), " " * indent)
    return f"|{keep}\n{body}"


def _says_the_same(one: str, other: str) -> bool:
    import yaml

    try:
        return _plain(compose(one)) == _plain(compose(other))
    except yaml.YAMLError:
        return False


def _plain(node: yaml.Node | None) -> object:
    """Return the texts of a document without the form they are written in."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return [(_plain(key), _plain(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return None if node is None else node.value


_TEMPLATE = ("work_prompt_template", "default")
_SYSTEM_PROMPT = ("system_prompt",)


def change_template(data_dir: Path, class_id: str, template: str) -> None:
    """Write another default template; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        template: The text, with placeholders.

    Raises:
        ConfigError: If there is no such template to replace, or the file, as it was or as it
            would be, has an error, or cannot be written; it is untouched then.
    """
    _change_text(data_dir, class_id, _TEMPLATE, template)


def change_system_prompt(data_dir: Path, class_id: str, prompt: str) -> None:
    """Write another system prompt of a class that has one; comments and the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        prompt: The text.

    Raises:
        ConfigError: If there is no such prompt to replace, or the file, as it was or as it would
            be, has an error, or cannot be written; it is untouched then.
    """
    _change_text(data_dir, class_id, _SYSTEM_PROMPT, prompt)


def _change_text(data_dir: Path, class_id: str, place: Sequence[str], new: str) -> None:
    path = data_dir / TEST_CLASSES_FILE
    with locked_for_writing(path):
        document, report = open_document(path, parse_yaml)
        if document is not None:
            decode_test_classes_file(document, report)
        raise_errors(report.problems)
        text = read_text(path)
        scalar = _scalar_of(compose(text), class_id, place)
        if scalar is None:
            message = f"{path}: class {class_id!r} has no {place[0]} that can be changed here"
            raise ConfigError(message, hint="Change it in the file.")
        changed = with_text(text, scalar, new)
        report = Report(str(path))
        decode_test_classes_file(parse_yaml(changed), report)
        raise_errors(report.problems)
        write_atomically(path, changed)


def _scalar_of(
    root: yaml.Node | None, class_id: str, place: Sequence[str]
) -> yaml.ScalarNode | None:
    import yaml

    classes = value_at(root, ("test_classes",))
    for entry in classes.value if isinstance(classes, yaml.SequenceNode) else ():
        name = value_at(entry, ("id",))
        if isinstance(name, yaml.ScalarNode) and name.value == class_id:
            found = value_at(entry, place)
            return found if isinstance(found, yaml.ScalarNode) else None
    return None


def change_agent_prompt(data_dir: Path, agent_id: str, prompt: str) -> None:
    """Write another system prompt; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        agent_id: Which agent.
        prompt: The text.

    Raises:
        ConfigError: If there is no such agent, or its file cannot be read or written; it is
            untouched then.
    """
    for path in sorted((data_dir / AGENTS_FOLDER).glob("*.yaml")):
        with locked_for_writing(path):
            text = _read(path)
            root = _composed(path, text)
            if _id_of(root, path) == agent_id:
                write_atomically(path, _with_prompt(path, text, root, prompt))
                return
    raise ConfigError(f"the agent {agent_id!r} does not exist in {data_dir / AGENTS_FOLDER}")


def _with_prompt(path: Path, text: str, root: yaml.Node | None, prompt: str) -> str:
    import yaml

    scalar = value_at(root, ("system_prompt",))
    if not isinstance(scalar, yaml.ScalarNode):
        raise ConfigError(f"{path} has a system_prompt that cannot be changed here")
    return with_text(text, scalar, prompt)


def _id_of(root: yaml.Node | None, path: Path) -> str:
    import yaml

    found = value_at(root, ("id",))
    return str(found.value) if isinstance(found, yaml.ScalarNode) else path.stem


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except UnreadableError as error:
        raise ConfigError(f"{path}: {error}") from error


def _composed(path: Path, text: str) -> yaml.Node | None:
    import yaml

    try:
        return compose(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML") from error

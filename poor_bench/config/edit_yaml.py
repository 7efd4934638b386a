"""Add an entry to a YAML file of the workspace; every byte that stands there is kept."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.config.atomic_write import write_atomically
from poor_bench.config.document import Document, UnreadableError, open_document, read_text
from poor_bench.config.file_lock import locked_for_writing
from poor_bench.config.load import raise_errors
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

"""Put another text in the place of one that stands in a YAML file; every other byte is kept."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from poor_bench.config.yaml_document import compose

if TYPE_CHECKING:
    import yaml


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

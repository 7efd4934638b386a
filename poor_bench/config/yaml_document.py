"""Parse YAML into plain data, without its surprises, so that every mistake has a line.

Unquoted scalars follow the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema):
only `true` and `false` are booleans, dates stay texts, and `12:30` is not a number of base 60.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poor_bench.config.document import Document, Place, UnreadableError, find_line_and_column
from poor_bench.safe_files import refuse_deep_yaml

if TYPE_CHECKING:
    import yaml


def parse_yaml(text: str) -> Document:
    """Read the content of a YAML file.

    Raises:
        UnreadableError: If it is not YAML, or not plain data (see `PlainValues`).
    """
    import yaml

    try:
        root = compose(text)
        if root is None:
            raise UnreadableError("the file has only comments")
        return Document(PlainValues().of(root), _make_line_finder(root))
    except yaml.MarkedYAMLError as error:
        raise _make_unreadable_error(error, text) from None
    except yaml.YAMLError as error:
        raise UnreadableError(f"this is not YAML: {_join_lines(str(error))}") from None
    except RecursionError:
        raise UnreadableError("the YAML is nested too deeply") from None


def compose(text: str) -> yaml.Node | None:
    """Parse a YAML text into nodes; scalars without quotes have the tag `UNQUOTED`.

    Raises:
        YAMLError: If it is not YAML.
    """
    import yaml

    refuse_deep_yaml(text)
    root: yaml.Node | None = yaml.compose(text, Loader=_make_loader_class())
    return root


@functools.cache
def _make_loader_class() -> Any:
    """Build a loader that marks scalars without quotes, and leaves their meaning to us."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {None: [(UNQUOTED, re.compile(""))]}
    return type("MarkingLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _make_unreadable_error(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    mark = error.problem_mark or error.context_mark
    line, column = find_line_and_column(text, mark.index) if mark else (None, 0)
    where = f", at line {line}, column {column}" if line else ""
    problem = _join_lines(error.problem or error.context or str(error))
    return UnreadableError(
        f"this is not YAML: {problem}{where}", hint=_write_hint(problem), line=line
    )


def _write_hint(problem: str) -> str:
    if "cannot start any token" in problem:
        return "indent with spaces, not tabs; quote texts that begin with @, ` or %"
    if "mapping values are not allowed" in problem:
        return "quote a text that contains `: `"
    if "did not find expected" in problem:
        return "check the indentation, and that each quote and bracket is closed"
    return ""


def _join_lines(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _make_line_finder(root: yaml.Node) -> Callable[[Place], int | None]:
    def find_line(place: Place) -> int | None:
        return find_line_of_node(root, place)

    return find_line


_MAX_VALUES = 2_000_000
"""How many values a file may stand for once its aliases are written out."""

UNQUOTED = "!unquoted"
"""Tag of a scalar without quotes and without a tag of its own, given by the parser."""

_STANDARD = "tag:yaml.org,2002:"
_TEXT_TAG = f"{_STANDARD}str"
_ACCEPTED_TAGS = {UNQUOTED} | {
    _STANDARD + name for name in ("bool", "float", "int", "map", "null", "seq", "str")
}
_WORDS: dict[str, Any] = {"": None, "~": None} | {
    spelling: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class PlainValues:
    """Turns nodes into dict, list, str, int, float, bool and None.

    Aliases share one value, however often they are used; a file whose aliases stand for more than
    two million values, or for themselves, is refused.
    """

    def __init__(self) -> None:
        self._done: dict[yaml.Node, tuple[Any, int]] = {}
        self._open: set[yaml.Node] = set()

    def of(self, node: yaml.Node) -> Any:
        """Read the value of a node.

        Raises:
            UnreadableError: If it is not plain data, repeats a key within one mapping, or grows
                beyond measure through its aliases.
        """
        return self._measure(node)[0]

    def _measure(self, node: yaml.Node) -> tuple[Any, int]:
        """Compute the value of a node, and how many values it stands for."""
        if node in self._done:
            return self._done[node]
        if node in self._open:
            raise _make_refusal(node, "an alias refers to something that contains it")
        if node.tag not in _ACCEPTED_TAGS:
            raise _make_refusal(
                node, f"the tag {node.tag.replace(_STANDARD, '!!')} is not accepted"
            )
        self._open.add(node)
        value, size = self._read_value(node)
        if size > _MAX_VALUES:
            raise _make_refusal(node, f"its aliases expand to more than {_MAX_VALUES:,} values")
        self._open.discard(node)
        self._done[node] = value, size
        return value, size

    def _read_value(self, node: yaml.Node) -> tuple[Any, int]:
        if isinstance(node.value, str):
            return _read_scalar(node), 1
        if _is_sequence(node):
            items = [self._measure(item) for item in node.value]
            return [value for value, _ in items], 1 + sum(size for _, size in items)
        return self._read_mapping(node)

    def _read_mapping(self, node: yaml.Node) -> tuple[dict[str, Any], int]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        total = 1
        for key_node, value_node in node.value:
            value, size = self._measure(value_node)
            total += size
            if key_node.tag == UNQUOTED and key_node.value == "<<":
                merged = _merge(value_node, value) | merged
                continue
            key = _read_key(key_node)
            if key in own:
                raise _make_refusal(key_node, f"the key `{key}` occurs twice in one mapping")
            own[key] = value
        return merged | own, total


def find_line_of_node(root: yaml.Node, place: Place) -> int | None:
    """Find the line, counted from 1, of the deepest part of `place` that exists below `root`."""
    node, line = root, None
    for part in place:
        found = _find_child(node, part)
        if found is None:
            break
        marked, node = found
        line = marked.start_mark.line + 1
    return line


def _find_child(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """Find the node whose line counts for a part of a place, and the node of its value."""
    if isinstance(node.value, str):
        return None
    if _is_sequence(node):
        is_inside = isinstance(part, int) and part < len(node.value)
        return (node.value[part], node.value[part]) if is_inside else None
    return next((pair for pair in node.value if pair[0].value == part), None)


def _is_sequence(node: yaml.Node) -> bool:
    import yaml

    return isinstance(node, yaml.SequenceNode)


def _read_scalar(node: yaml.Node) -> Any:
    text: str = node.value
    if node.tag == _TEXT_TAG:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _make_refusal(node, f"{text} is not a finite number")
    try:
        return _number_or_text(text)
    except ValueError:
        raise _make_refusal(node, "a number has too many digits") from None
    except OverflowError:
        raise _make_refusal(node, f"the number {text:.40} is too large") from None


def _number_or_text(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in {"0o", "0x"} else 10)
    if not _FLOAT.fullmatch(text):
        return text
    value = float(text)
    if math.isinf(value):
        raise OverflowError
    return value


def _read_key(node: yaml.Node) -> str:
    if not isinstance(node.value, str):
        raise _make_refusal(node, "a key must be a text")
    value = _read_scalar(node)
    if not isinstance(value, str):
        raise _make_refusal(node, f"the key {node.value} must be a text", hint="quote it")
    return value


def _merge(node: yaml.Node, value: Any) -> dict[str, Any]:
    sources = value if isinstance(value, list) else [value]
    merged: dict[str, Any] = {}
    for source in reversed(sources):
        if not isinstance(source, dict):
            raise _make_refusal(node, "`<<` merges mappings only")
        merged |= source
    return merged


def _make_refusal(node: yaml.Node, message: str, *, hint: str = "") -> UnreadableError:
    return UnreadableError(message, hint=hint, line=node.start_mark.line + 1)

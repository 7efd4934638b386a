"""Parse JSON so that every mistake has a place.

The standard library's parser keeps integers of any size exact and shows duplicate keys; it reads
10,000 tests in about a tenth of a second.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any

from poor_bench.config.document import Document, Place, UnreadableError, find_line_and_column
from poor_bench.safe_files import load_json_text

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_CUT_HINT = "the file was probably written only in part"


def parse_json(text: str) -> Document:
    """Read the content of a JSON file.

    Raises:
        UnreadableError: If it is not JSON, repeats a key within one object, or holds a number that
            is not finite.
    """
    try:
        data = load_json_text(
            text,
            object_pairs_hook=_build_object,
            parse_float=_read_finite_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        message, line = find_json_fault(error, text)
        hint = _CUT_HINT if _is_cut(error, text) else _write_hint(text, error.pos)
        raise UnreadableError(message, hint=hint, line=line) from None
    except ValueError as error:
        if isinstance(error.args[0], str) and "integer string conversion" in error.args[0]:
            raise UnreadableError("a number has too many digits") from None
        raise UnreadableError(str(error)) from None
    _require_text(data, text)
    return Document(data, make_line_finder(text))


def find_json_fault(error: json.JSONDecodeError, text: str, first_line: int = 1) -> tuple[str, int]:
    """Describe why a text is not JSON, and where in its file.

    Args:
        error: What the parser raised.
        text: What was parsed.
        first_line: On which line of the file the text begins.

    Returns:
        A message with line and column, and the line.
    """
    is_cut = _is_cut(error, text)
    line, column = find_line_and_column(text, len(text.rstrip()) if is_cut else error.pos)
    line += first_line - 1
    said = error.msg.removesuffix(" at").rstrip(": ")
    what = "it ends too early" if is_cut else said[:1].lower() + said[1:]
    return f"this is not JSON: {what}, at line {line}, column {column}", line


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """True if the text is the beginning of JSON, such as of a file that was written in part."""
    return error.msg.startswith("Unterminated string") or not text[error.pos :].strip()


def _require_text(data: Any, source: str) -> None:
    """Refuse halves of surrogate pairs, which can be neither sent nor stored."""
    if not _SURROGATE.search(source):
        return
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        line = source.count("\n", 0, max(source.lower().find(half), 0)) + 1
        message = f"{half} is half of a surrogate pair, which is not text"
        raise UnreadableError(message, line=line) from None


def make_line_finder(text: str) -> Callable[[Place], int | None]:
    """Make what finds the line of a place of a JSON text that parses."""
    known_lines = functools.cache(lambda: find_lines(text))

    def find_line(place: Place) -> int | None:
        lines = known_lines()
        parents = (place[:length] for length in range(len(place), 0, -1))
        return next((lines[parent] for parent in parents if parent in lines), None)

    return find_line


def _build_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = Counter(key for key, _ in pairs)
        repeated = next(key for key, times in keys.items() if times > 1)
        identity = _describe(result)
        raise ValueError(f"the key `{repeated}` occurs twice in one object{identity}")
    return result


def _describe(entry: dict[str, Any]) -> str:
    for key in ("test_id", "id", "name"):
        if isinstance(entry.get(key), str):
            return f" (the one with `{key}`: `{entry[key]:.80}`)"
    return ""


def _read_finite_float(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise ValueError(f"the number {literal:.40} is too large")
    return value


def _refuse_constant(literal: str) -> float:
    raise ValueError(f"{literal} is not a JSON number")


def _write_hint(text: str, position: int) -> str:
    before = text[:position].rstrip()
    following = text[position : position + 1]
    if before.endswith(",") and following in {"]", "}"}:
        return "remove the comma before the closing bracket"
    if following == "'":
        return "use double quotes"
    if following in {"#", "/"}:
        return 'JSON has no comments; use a key such as "_comment"'
    if following in {'"', "{", "["}:
        return "a comma is probably missing here"
    return ""


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]+')


class _Awaits(Enum):
    KEY = auto()
    ELEMENT = auto()
    NOTHING = auto()


def find_lines(text: str) -> dict[Place, int]:
    r"""Find the line, counted from 1, of every key and list element of a JSON text that parses.

    Example:
        >>> find_lines('{"tests": [\n {"level": 1},\n {"level": 0}]}')["tests", 1, "level"]
        3
    """
    lines: dict[Place, int] = {}
    path: list[str | int] = []
    awaits = _Awaits.NOTHING
    line, counted_to = 1, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        line += text.count("\n", counted_to, token.start())
        counted_to = token.start()
        if awaits is not _Awaits.NOTHING and mark not in {"}", "]"}:
            if awaits is _Awaits.KEY:
                path[-1] = json.loads(mark)
            lines[tuple(path)] = line
        awaits = _follow(path, mark)
    return lines


def _follow(path: list[str | int], mark: str) -> _Awaits:
    """Bring `path` behind the token `mark`, and return what comes next."""
    if mark == "{":
        path.append("")
        return _Awaits.KEY
    if mark == "[":
        path.append(0)
        return _Awaits.ELEMENT
    if mark in {"}", "]"}:
        path.pop()
    elif mark == ",":
        last = path[-1]
        if isinstance(last, str):
            return _Awaits.KEY
        path[-1] = last + 1
        return _Awaits.ELEMENT
    return _Awaits.NOTHING

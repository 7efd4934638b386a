"""Parse JSON so that every mistake has a place.

The standard library's parser is used for it keeps integers of any size exact and lets duplicate
keys be seen; it reads 10,000 tests in about a tenth of a second.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from poor_bench.config.document import Document, UnreadableError
from poor_bench.config.json_lines import lines_by_place
from poor_bench.config.report import Place

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Document:
    """Return the content of a JSON file.

    Raises:
        UnreadableError: If it is not JSON, repeats a key within one object, or holds a number that
            is not finite.
    """
    try:
        data = json.loads(
            text,
            object_pairs_hook=_object_of,
            parse_float=_finite_float,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        message = f"this is not JSON: {said} at line {error.lineno}, column {error.colno}"
        raise UnreadableError(message, hint=_hint_for(text, error.pos), line=error.lineno) from None
    except RecursionError:
        raise UnreadableError("the JSON is nested too deeply") from None
    except ValueError as error:
        if isinstance(error.args[0], str) and "integer string conversion" in error.args[0]:
            raise UnreadableError("a number has too many digits") from None
        raise UnreadableError(str(error)) from None
    _require_text(data, text)
    return Document(data, _line_finder(text))


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


def _line_finder(text: str) -> Callable[[Place], int | None]:
    known_lines = functools.cache(lambda: lines_by_place(text))

    def line_of(place: Place) -> int | None:
        lines = known_lines()
        parents = (place[:length] for length in range(len(place), 0, -1))
        return next((lines[parent] for parent in parents if parent in lines), None)

    return line_of


def _object_of(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = Counter(key for key, _ in pairs)
        repeated = next(key for key, times in keys.items() if times > 1)
        identity = _describe(result)
        raise ValueError(f"the key `{repeated}` stands twice in one object{identity}")
    return result


def _describe(entry: dict[str, Any]) -> str:
    for key in ("test_id", "id", "name"):
        if isinstance(entry.get(key), str):
            return f" (the one with `{key}`: `{entry[key]:.80}`)"
    return ""


def _finite_float(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise ValueError(f"the number {literal:.40} is too large")
    return value


def _refuse_constant(literal: str) -> float:
    raise ValueError(f"{literal} is not a number that JSON knows")


def _hint_for(text: str, position: int) -> str:
    before = text[:position].rstrip()
    following = text[position : position + 1]
    if before.endswith(",") and following in {"]", "}"}:
        return "remove the comma before the closing bracket"
    if following == "'":
        return "JSON wants double quotes"
    if following in {"#", "/"}:
        return 'JSON has no comments; write a key such as "_comment" instead'
    if following in {'"', "{", "["}:
        return "a comma is probably missing before this"
    return ""

"""Find on which line each part of a JSON text stands; only needed once something is wrong."""

from __future__ import annotations

import json
import re
from enum import Enum, auto

from poor_bench.config.report import Place

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\],:]|[^\s{}\[\],:"]+')


class _Awaits(Enum):
    KEY = auto()
    ELEMENT = auto()
    NOTHING = auto()


def lines_by_place(text: str) -> dict[Place, int]:
    r"""Return the line, counted from 1, of every key and list element of a JSON text that parses.

    Example:
        >>> lines_by_place('{"tests": [\n {"level": 1},\n {"level": 0}]}')["tests", 1, "level"]
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

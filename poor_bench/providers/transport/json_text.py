"""JSON to and from bytes, tolerant of what real servers and prompts hold; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from poor_bench.safe_files import TooDeepError, load_json_text, refuse_deep_json


class MalformedJsonError(ValueError):
    """Bytes that should be a JSON object and are not.

    Attributes:
        start: The first bytes, for a message.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__("not a JSON object")
        self.start = data[:4000]


def dump_json(value: Mapping[str, Any]) -> bytes:
    """Return a mapping as JSON; half surrogates in texts are kept as escapes.

    Raises:
        TypeError: If a value cannot stand in JSON.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode("ascii")


def load_json(data: bytes) -> dict[str, Any]:
    """Return the JSON object that bytes hold; NaN, bad UTF-8 and half surrogates are let pass.

    Raises:
        MalformedJsonError: If they hold anything else.
    """
    try:
        refuse_deep_json(data.decode("latin-1"))
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _load_leniently(data)
    except TooDeepError as error:
        raise MalformedJsonError(data) from error
    if not isinstance(value, dict):
        raise MalformedJsonError(data)
    return value


def _load_leniently(data: bytes) -> Any:
    try:
        return load_json_text(data.decode("utf-8", "replace"))
    except ValueError as error:
        raise MalformedJsonError(data) from error

"""One record to one line of JSON, whatever text a model or evaluator produced."""

from __future__ import annotations

from typing import Any

import orjson

from poor_bench.models.result import Result, result_to_record


def dump_result(result: Result) -> bytes:
    """Return a result as one line of JSON, as `dump_record` does; for reading it back only.

    Fields at their defaults may be there.
    """
    try:
        return orjson.dumps(result)
    except TypeError:
        return dump_record(result_to_record(result))


def dump_record(record: dict[str, Any]) -> bytes:
    """Return a record as one line of JSON, without the line's end.

    Text that UTF-8 cannot hold (lone surrogates) is written with backslash escapes, and numbers
    that JSON readers cannot hold (beyond 64 bits) as text.
    """
    try:
        return orjson.dumps(record, default=str)
    except TypeError:
        return orjson.dumps(_storable(record), default=str, option=orjson.OPT_NON_STR_KEYS)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value

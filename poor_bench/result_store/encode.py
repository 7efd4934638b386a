"""One record to one line of JSON, whatever text a model or evaluator produced, with a checksum.

The checksum is the last key of a line, so that it can be checked without parsing:

```
{"test_id":"math_001","score":1.0,"crc":"5f9a07c1"}
```

It is the CRC-32 (RFC 1952, section 8) of the owner's name and of the line without that key. A line
without it, as older versions wrote, counts as intact.
"""

from __future__ import annotations

import zlib
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


CHECKSUM = "crc"
_MARK = b',"crc":"'
_STAMP_LENGTH = len(b',"crc":"00000000"}')


def stamped(line: bytes, owner: str = "") -> bytes:
    """Add its checksum to a line of `dump_record` that holds at least one key.

    Args:
        line: A JSON object, without the line's end.
        owner: What the line belongs to though it does not say so, as a row to its LLM.
    """
    body = line[:-1]
    return b'%s,"crc":"%08x"}' % (body, _crc(body, owner))


def is_intact(line: bytes, owner: str = "") -> bool:
    """True if a line is as it was stamped, or was never stamped."""
    if line[-_STAMP_LENGTH:].startswith(_MARK):
        body = line[:-_STAMP_LENGTH]
        return line[-10:-2] == b"%08x" % _crc(body, owner)
    return _MARK not in line[-2 * _STAMP_LENGTH :]


def is_whole(line: bytes) -> bool:
    """True if a line holds its checksum up to the end, maybe with a damaged line's end."""
    ends = (line, line[:-1])
    return any(end[-_STAMP_LENGTH:].startswith(_MARK) for end in ends)


def _crc(body: bytes, owner: str) -> int:
    return zlib.crc32(body, zlib.crc32(owner.encode("utf-8", "replace")))


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

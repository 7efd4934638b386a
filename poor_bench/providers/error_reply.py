"""Read what a server refuses, and how long to wait; how many requests it has left; pure.

Source:
    RFC 9110, section 10.2.3 (Retry-After: seconds or a date); `retry-after-ms` as the OpenAI
    and Anthropic clients read it; "try again in 1m2.5s" as OpenAI and Groq write it.
    OpenAI, "Rate limits" (`x-ratelimit-limit-requests`, `-remaining-requests` and
    `-reset-requests`, a duration such as `6m0s`; Groq and others likewise). Anthropic, "Rate
    limits" (`anthropic-ratelimit-requests-limit`, `-remaining` and `-reset`, an RFC 3339 time).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from poor_bench.models.completion import Allowance
from poor_bench.providers.api_keys import hide_key, hide_keys
from poor_bench.safe_files import refuse_deep_json

_MOST_TEXT = 300
_TAG = re.compile(r"<(script|style)\b.*?(?:</\1\s{0,9}>|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^<>]{0,300}>([^<]{0,1000})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReply:
    """A server's refusal, taken apart."""

    status: int | None
    """HTTP status, or the status that stands in an error within a stream."""
    message: str = ""
    """One line, bounded."""
    codes: frozenset[str] = frozenset()
    """Types and codes of the error, in lower case."""
    parameter: str = ""
    """The parameter that the server objects to, where it names one."""
    is_web_page: bool = False
    """The text is a web page: a proxy or another server answered."""


def parse_error_reply(status: int | None, body: bytes) -> ErrorReply:
    """Read the message of a refusal from any bytes."""
    try:
        refuse_deep_json(body.decode("latin-1"))
        value = orjson.loads(body)
    except ValueError:
        return _from_text(status, body.decode("utf-8", "replace"))
    return read_error(value, status)


def hide_key_in_reply(value: Any, key: str | None) -> Any:
    """Remove the key from a reply, as bytes or decoded."""
    if isinstance(value, bytes):
        return hide_key(value.decode("latin-1"), key).encode("latin-1")
    if isinstance(value, str):
        return hide_key(value, key)
    if isinstance(value, Mapping):
        return {name: hide_key_in_reply(item, key) for name, item in value.items()}
    if isinstance(value, list):
        return [hide_key_in_reply(item, key) for item in value]
    return value


def read_error(value: Any, status: int | None = None) -> ErrorReply:
    """Read the error that a decoded reply, or one object of a stream, holds."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, Mapping):
        return ErrorReply(status=status, message=join_lines(str(value)))
    error = value.get("error") or value
    if not isinstance(error, Mapping):
        return ErrorReply(status=status, message=join_lines(str(error)))
    details = error.get("details")
    codes = [error.get(key) for key in ("type", "code", "status")]
    if isinstance(details, Mapping):
        codes.append(details.get("error_code"))
    return ErrorReply(
        status=_read_status(error, status),
        message=join_lines(_read_message(error, value)),
        codes=frozenset(str(code).lower() for code in codes if isinstance(code, str)),
        parameter=_find_parameter(error, value),
    )


def join_lines(text: str) -> str:
    """Make one printable line of at most 300 characters, without what looks like a key.

    The key of the LLM is hidden before: see `hide_key_in_reply`.
    """
    text = hide_keys(text, None)
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    return line if len(line) <= _MOST_TEXT else line[: _MOST_TEXT - 3] + "..."


def _from_text(status: int | None, text: str) -> ErrorReply:
    start = text.lstrip()[:200].lower()
    if not start.startswith(("<!doctype", "<html", "<head", "<?xml", "<title")):
        return ErrorReply(status=status, message=join_lines(text[:4000]))
    title = _TITLE.search(text)
    content = title.group(1) if title else _TAG.sub(" ", text[:20_000])
    return ErrorReply(status=status, message=join_lines(content), is_web_page=True)


def _read_message(error: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    found = error.get("message") or error.get("detail") or value.get("detail") or error
    if isinstance(found, Mapping):
        found = found.get("detail") or found
    if isinstance(found, Sequence) and not isinstance(found, str):
        found = "; ".join(_find_objection(item) for item in found)
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f"{found}: {raw}" if raw else str(found)


def _find_objection(item: Any) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    return f"{_take_last(item.get('loc'))}: {item.get('msg') or item.get('type')}"


def _find_parameter(error: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    if isinstance(error.get("param"), str):
        return str(error["param"])
    detail = value.get("detail")
    message = error.get("message")
    if isinstance(message, Mapping):
        detail = message.get("detail")
    if isinstance(detail, Sequence) and detail and isinstance(detail[0], Mapping):
        return _take_last(detail[0].get("loc"))
    return ""


def _take_last(location: Any) -> str:
    return str(location[-1]) if isinstance(location, Sequence) and location else ""


def _read_status(error: Mapping[str, Any], status: int | None) -> int | None:
    if status is not None and status >= 300:
        return status
    for key in ("code", "status", "status_code"):
        stated = error.get(key)
        if isinstance(stated, int) and 300 <= stated < 600:
            return stated
        if isinstance(stated, str) and stated.isdigit() and 300 <= int(stated) < 600:
            return int(stated)
    return status


_CODES = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"}
)
_WORDS = re.compile(
    r"unsupported|not (currently |yet )?support|n't support|unknown|unrecogni[sz]ed|unexpected"
    r"|not (be )?(permitted|allowed)|extra (inputs?|fields?)|deprecated|only (the )?default"
    r"|may only|cannot both|incompatible",
    re.IGNORECASE,
)


def find_refused_parameter(error: ErrorReply, candidates: Sequence[str]) -> str | None:
    """Find the first of `candidates` that a server does not take at all.

    A value out of range is not such a refusal: it is for the user to fix.

    Args:
        error: What the server said.
        candidates: Parameters of the request that may be left out, the least missed first.
    """
    if not is_refusal(error):
        return None
    named = re.split(r"[.\[]", error.parameter)[0]
    if named in candidates:
        return named
    return next((name for name in candidates if _mentions(error.message, name)), None)


def is_refusal(error: ErrorReply) -> bool:
    """True if a server says that it does not know or take something, whatever it is."""
    return bool(error.codes & _CODES) or _WORDS.search(error.message) is not None


def _mentions(message: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) is not None


_DURATION = r"(?:\d{1,6}(?:\.\d{1,9})?(?:h|ms|m| ?s))+"
_IN_TEXT = re.compile(rf"(?:try again|retry|retrying) (?:in|after) ({_DURATION})", re.IGNORECASE)
_PART = re.compile(r"(\d{1,6}(?:\.\d{1,9})?) ?(h|ms|m|s)")
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def retry_after_s(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Read the seconds that a server asks to wait, 0 or more; None where it does not say.

    Args:
        headers: The reply's headers; names in lower case or case-insensitive.
        message: The server's error text.
        now: The present moment, for dates where the reply itself is not dated.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return _find_in_text(message)
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _read_date(value)
    if until is None:
        return None
    return max(0.0, (until - (_read_date(headers.get("date")) or now)).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _read_date(value: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value or "")
    except (ValueError, TypeError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _find_in_text(message: str) -> float | None:
    found = _IN_TEXT.search(message)
    return None if found is None else _add_up(found[1])


def _add_up(duration: str) -> float:
    """Compute the seconds of a duration such as `1m2.5s`."""
    parts = _PART.findall(duration.lower())
    return math.fsum(float(number) * _UNITS_S[unit] for number, unit in parts)


_NAMES = (
    tuple(f"x-ratelimit-{part}-requests" for part in ("limit", "remaining", "reset")),
    tuple(f"anthropic-ratelimit-requests-{part}" for part in ("limit", "remaining", "reset")),
)
_LONGEST = 40


def read_allowance(headers: Mapping[str, str]) -> Allowance | None:
    """Read how many requests are left; None where the headers do not tell, or make no sense.

    Args:
        headers: Of a reply; names in lower case or case-insensitive.
    """
    for limit_name, remaining_name, reset_name in _NAMES:
        limit, remaining = _count(headers.get(limit_name)), _count(headers.get(remaining_name))
        reset_s = _read_seconds(headers.get(reset_name) or "", headers.get("date") or "")
        if limit and remaining is not None and reset_s is not None:
            return Allowance(limit=limit, remaining=min(limit, remaining), reset_s=reset_s)
    return None


def _count(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _read_seconds(text: str, date: str) -> float | None:
    """Compute seconds from a duration, or from a moment and the date of the reply."""
    if len(text) <= _LONGEST and re.fullmatch(_DURATION, text.strip()):
        return _add_up(text)
    try:
        until = datetime.fromisoformat(text)
        return max(0.0, (until - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None

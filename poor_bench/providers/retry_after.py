"""How long a server asks to wait before the next request; pure.

Source:
    RFC 9110, section 10.2.3 (Retry-After: seconds or a date); `retry-after-ms` as the OpenAI
    and Anthropic clients read it; "try again in 1m2.5s" as OpenAI and Groq write it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_IN_TEXT = re.compile(
    r"(?:try again|retry|retrying) (?:in|after) "
    r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m(?!s))?"
    r"(?:(?P<s>\d+(?:\.\d+)?) ?s)?(?:(?P<ms>\d+(?:\.\d+)?)ms)?",
    re.IGNORECASE,
)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def retry_after_s(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Return the seconds that a server asks to wait, 0 or more; None where it does not say.

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
        return _in_text(message)
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date")) or now)).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value or "")
    except (ValueError, TypeError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _in_text(message: str) -> float | None:
    found = _IN_TEXT.search(message)
    parts = {unit: text for unit, text in found.groupdict().items() if text} if found else {}
    if not parts:
        return None
    return sum(float(text) * _SECONDS[unit] for unit, text in parts.items())

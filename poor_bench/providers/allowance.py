"""Read how many requests a server says are left, from the headers of its replies; pure.

Source:
    OpenAI, "Rate limits" (`x-ratelimit-limit-requests`, `-remaining-requests` and
    `-reset-requests`, a duration such as `6m0s`; Groq and others likewise). Anthropic, "Rate
    limits" (`anthropic-ratelimit-requests-limit`, `-remaining` and `-reset`, an RFC 3339 time).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from poor_bench.models.completion import Allowance

_NAMES = (
    tuple(f"x-ratelimit-{part}-requests" for part in ("limit", "remaining", "reset")),
    tuple(f"anthropic-ratelimit-requests-{part}" for part in ("limit", "remaining", "reset")),
)
_DURATION = re.compile(
    r"(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?"
    r"(?:(\d{1,6}(?:\.\d{1,9})?)s)?(?:(\d{1,6}(?:\.\d{1,9})?)ms)?"
)
_UNITS_S = (3600.0, 60.0, 1.0, 0.001)


def read_allowance(headers: Mapping[str, str]) -> Allowance | None:
    """Return the requests that are left; None where the headers do not tell, or make no sense.

    Args:
        headers: Of a reply; names in lower case or case-insensitive.
    """
    for limit_name, remaining_name, reset_name in _NAMES:
        limit, remaining = _count(headers.get(limit_name)), _count(headers.get(remaining_name))
        reset_s = _seconds(headers.get(reset_name) or "", headers.get("date") or "")
        if limit and remaining is not None and reset_s is not None:
            return Allowance(limit=limit, remaining=min(limit, remaining), reset_s=reset_s)
    return None


def _count(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _seconds(text: str, date: str) -> float | None:
    """Return seconds from a duration, or from a moment and the date of the reply."""
    found = _DURATION.fullmatch(text.strip())
    if found and text.strip():
        parts = zip(found.groups(), _UNITS_S, strict=True)
        return sum(float(number) * unit_s for number, unit_s in parts if number)
    try:
        until = datetime.fromisoformat(text)
        return max(0.0, (until - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None

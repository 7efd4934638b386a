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
_PART = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)(h|ms|m|s)")
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_LONGEST = 40


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
    parts = _PART.findall(text) if len(text) <= _LONGEST else []
    if parts and "".join(map("".join, parts)) == text.strip():
        return float(sum(float(number) * _UNITS_S[unit] for number, unit in parts))
    try:
        until = datetime.fromisoformat(text)
        return max(0.0, (until - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None

"""Refuse keys that stand in a file; they belong into environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.config.report import Place, Report

_SECRET_NAMES = frozenset(
    {"apikey", "key", "token", "accesstoken", "authtoken", "secret", "password", "authorization"}
)
_KEY_SHAPE = re.compile(r"(sk|pk|gsk|xai|hf|key)[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}")
_USER_IN_URL = re.compile(r"^[a-z]+://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_HINT = "set an environment variable to the key, and write its name under `api_key_env`"


_INNER = frozenset({"parameters", "headers", "extra_headers"})


def without_secrets(raw: Mapping[str, Any], place: Place, report: Report) -> dict[str, Any]:
    """Return an entry of llms.json without secrets; each is noted, and none of it repeated."""
    clean = {}
    for key, value in raw.items():
        inner = (*place, key)
        if key in _INNER and isinstance(value, dict):
            clean[key] = without_secrets(value, inner, report)
        elif isinstance(value, str) and (message := _objection(key, value)):
            report.error(inner, message, hint=_HINT, code="secret")
        else:
            clean[key] = value
    return clean


def _objection(key: str, value: str) -> str:
    if value and re.sub(r"[^a-z]", "", key.lower()) in _SECRET_NAMES:
        return "a file must not contain a key"
    if key == "api_key_env" and _KEY_SHAPE.fullmatch(value):
        return "this looks like a key; write the name of an environment variable instead"
    if _USER_IN_URL.match(value):
        return "an address must not contain a user name and password"
    return ""

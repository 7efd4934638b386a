"""Secrets out of everything that is stored or shown to an LLM; pure."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus


class Redactor:
    """Replaces the values of secrets by their names, also where a page has encoded them."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Learn the secrets.

        Args:
            secrets: Value of each secret by its name; empty values are no secrets.
        """
        spellings = {
            spelling: f"[{name}]"
            for name, value in secrets.items()
            if value
            for spelling in _spellings(value)
        }
        self._spellings = sorted(spellings.items(), key=lambda item: -len(item[0]))
        self.values = tuple(value for value in secrets.values() if value)

    def text(self, text: str) -> str:
        """`text` without secrets."""
        for spelling, name in self._spellings:
            text = text.replace(spelling, name)
        return text

    def value(self, value: Any) -> Any:
        """JSON-like data without secrets, in keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _spellings(value: str) -> set[str]:
    in_json = json.dumps(value)[1:-1]
    return {
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        html.escape(value),
        html.escape(value, quote=False),
        in_json,
        json.dumps(value, ensure_ascii=False)[1:-1],
    }

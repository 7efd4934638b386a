"""Take secrets out of everything that is stored or shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "•••"
_LEAST_LENGTH = 3
"""Shorter values would mask ordinary letters all over, and are no secrets."""


class Masker:
    """Replaces known secrets, as they are and as they stand in URLs."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Take the secrets; values of fewer than three characters are not masked."""
        spellings = {
            spelling
            for secret in secrets
            if len(secret) >= _LEAST_LENGTH
            for spelling in (secret, quote(secret, safe=""), quote_plus(secret))
        }
        self._longest_first = sorted(spellings, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced by `MASK`."""
        for secret in self._longest_first:
            text = text.replace(secret, MASK)
        return text

    def value(self, value: Any) -> Any:
        """Return plain data with every text in it masked, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def masker_for(credentials: Iterable[str], environ: Mapping[str, str]) -> Masker:
    """Return the masker for the values of environment variables, as far as they are set."""
    return Masker(environ[name] for name in credentials if environ.get(name))

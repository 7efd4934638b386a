"""Every response compressed; scripts, which never change, once for all browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask, Request

_BROTLI_LEVEL = 6
_SCRIPTS = "/_dash-component-suites/"
_NOT_KEPT = ""


class _ScriptCache:
    """Keeps compressed scripts; anything else is compressed anew each time."""

    def __init__(self) -> None:
        self._scripts: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._scripts.get(key)

    def set(self, key: str, value: bytes) -> None:
        if not key.endswith(f";{_NOT_KEPT}"):
            self._scripts[key] = value


def compress(server: Flask) -> None:
    """Compress all that a server sends, with what the browser understands of brotli and gzip."""
    from flask_compress import Compress

    server.config.update(
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_ALGORITHM_STREAMING=["br", "gzip"],
        COMPRESS_BR_LEVEL=_BROTLI_LEVEL,
        COMPRESS_CACHE_BACKEND=_ScriptCache,
        COMPRESS_CACHE_KEY=_cache_key,
    )
    Compress(server)


def _cache_key(request: Request) -> str:
    return request.path if request.path.startswith(_SCRIPTS) else _NOT_KEPT

"""Keys: read from the environment at call time, sent in headers, shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import entry_of
from poor_bench.providers.endpoint import endpoint_of, is_local_host

_SHORTEST_SECRET = 4
_HIDDEN = "[key]"
_KEY_SHAPES = re.compile(r"\b(?:sk|pk|gsk|xai|hf|key)[-_][\w*.-]{8,}|(?<=Bearer )\S+")


def key_variable(llm: LLM, environ: Mapping[str, str]) -> str | None:
    """Return the name of the environment variable of an LLM's key; None where it needs none.

    A provider's own variable (such as OPENAI_API_KEY) counts only where the provider's own
    server is asked, so that a key never reaches another server unless `api_key_env` says so.
    """
    if llm.api_key_env:
        return llm.api_key_env
    entry = entry_of(llm)
    if entry.endpoint is None or entry.api_key_env is None:
        return None
    own_server = urlsplit(entry.endpoint).hostname
    asked_server = urlsplit(endpoint_of(llm, environ)).hostname
    is_own = not llm.endpoint or own_server == asked_server
    return entry.api_key_env if is_own else None


def read_key(llm: LLM, environ: Mapping[str, str]) -> str | None:
    """Return the key of an LLM, or None where it needs none.

    Raises:
        ProviderError: If it needs one and the environment does not hold it, or it holds
            something that cannot be sent; the message names the variable only.
    """
    variable = key_variable(llm, environ)
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        if llm.api_key_env or _needs_key(llm, environ):
            raise ProviderError(
                f"there is no key: the environment variable {variable} is not set",
                kind=FailureKind.AUTH,
                hint=f"export {variable}=...",
            )
        return None
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(
            f"the environment variable {variable} holds characters that no key has",
            kind=FailureKind.AUTH,
            hint="perhaps two lines, or quotation marks, were copied with it",
        )
    return key


def hide_keys(text: str, key: str | None) -> str:
    """Return text without the key, and without anything else that looks like one."""
    if key and len(key) >= _SHORTEST_SECRET:
        text = text.replace(key, _HIDDEN)
    return _KEY_SHAPES.sub(_HIDDEN, text)


def _needs_key(llm: LLM, environ: Mapping[str, str]) -> bool:
    host = urlsplit(endpoint_of(llm, environ)).hostname or ""
    return entry_of(llm).needs_key and not is_local_host(host)

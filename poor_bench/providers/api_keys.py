"""Keys: read from the environment at call time, sent in headers, hidden in replies and errors."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from poor_bench.errors import ConfigError, PoorBenchError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Provider, Reachability
from poor_bench.providers.catalog import find_entry
from poor_bench.providers.endpoint import is_local_host, resolve_endpoint

_SHORTEST_SECRET = 4
_SHORTEST_IN_ANSWERS = 8
_LONGER_THAN_WORDS = 20
_HIDDEN = "[key]"
_KEY_SHAPES = re.compile(r"\b(?:sk|pk|gsk|xai|hf|key)[-_][\w*.-]{8,}|(?<=Bearer )\S+")


def find_key_variable(llm: LLM, environ: Mapping[str, str]) -> str | None:
    """Name the environment variable of an LLM's key; None where it needs none.

    A provider's own variable (such as OPENAI_API_KEY) counts only where the provider's own
    server is asked, so that a key never reaches another server unless `api_key_env` says so.
    """
    if llm.api_key_env:
        return llm.api_key_env
    entry = find_entry(llm)
    if entry.endpoint is None or entry.api_key_env is None:
        return None
    own_server = urlsplit(entry.endpoint).hostname
    asked_server = urlsplit(resolve_endpoint(llm, environ)).hostname
    is_own = not llm.endpoint or own_server == asked_server
    return entry.api_key_env if is_own else None


def read_key(llm: LLM, environ: Mapping[str, str]) -> str | None:
    """Read the key of an LLM; None where it needs none.

    Raises:
        ProviderError: If it needs one and the environment does not hold it, or it holds
            something that cannot be sent; the message names the variable only.
    """
    variable = find_key_variable(llm, environ)
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        if llm.api_key_env or _needs_key(llm, environ):
            raise ProviderError(
                f"no key: the environment variable {variable} is not set",
                kind=FailureKind.AUTH,
                hint=f"export {variable}=...",
            )
        return None
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(
            f"the environment variable {variable} contains characters that a key cannot have",
            kind=FailureKind.AUTH,
            hint="check for line breaks and quotation marks",
        )
    return key


def find_known_key(llm: LLM, environ: Mapping[str, str]) -> str | None:
    """Find the key of an LLM as the environment has it, usable or not; None without one."""
    try:
        variable = find_key_variable(llm, environ)
    except ConfigError:
        return None
    return environ.get(variable, "").strip() or None if variable else None


def hide_keys(text: str, key: str | None) -> str:
    """Remove the key from a text, and anything else that looks like one.

    Hide first and cut afterwards: half a key is not found any more.
    """
    return _KEY_SHAPES.sub(_HIDDEN, hide_key(text, key))


def hide_key(text: str, key: str | None, shown: str = _HIDDEN) -> str:
    """Replace the key by `shown`.

    It is found in any case, escaped for JSON, URLs and HTML, and in base64.
    """
    if not key or len(key) < _SHORTEST_SECRET:
        return text
    return _list_spellings(key).sub(lambda _match: shown, text)


def hide_key_in_answer(text: str, key: str | None, shown: str = _HIDDEN) -> str:
    """Remove the key from the answer of an LLM.

    Placeholders that local servers are given for a key, such as `ollama`, are ordinary words and
    stay.
    """
    if not key or len(key) < _SHORTEST_IN_ANSWERS:
        return text
    is_random = any(character.isdigit() for character in key) or len(key) >= _LONGER_THAN_WORDS
    return hide_key(text, key, shown) if is_random else text


@lru_cache(maxsize=64)
def _list_spellings(key: str) -> re.Pattern[str]:
    escaped = "".join(
        rf"(?:{re.escape(character)}|\\u00{ord(character):02x}|%{ord(character):02x}"
        rf"|&\#{ord(character)};|&\#x{ord(character):x};|\\{re.escape(character)})"
        for character in key
    )
    return re.compile("|".join([escaped, *map(re.escape, _encode_in_base64(key))]), re.IGNORECASE)


def _encode_in_base64(key: str) -> list[str]:
    """List the forms of a key in base64, one for each offset at which it can begin."""
    found = set()
    for before in range(3):
        coded = base64.b64encode(b"x" * before + key.encode()).decode().rstrip("=")
        n_shared = (4 * before + 2) // 3  # characters that also code what stands before
        whole = coded[n_shared : len(coded) - bool((before + len(key)) % 3)]
        if len(whole) >= _SHORTEST_IN_ANSWERS:
            found |= {whole, whole.replace("+", "-").replace("/", "_")}
    return sorted(found, key=len, reverse=True)


def _needs_key(llm: LLM, environ: Mapping[str, str]) -> bool:
    host = urlsplit(resolve_endpoint(llm, environ)).hostname or ""
    return find_entry(llm).needs_key and not is_local_host(host)


def without_key(completion: Completion, key: str | None) -> Completion:
    """Completion without the key, should the server or the LLM echo it."""
    clean = replace(
        completion,
        text=hide_key_in_answer(completion.text, key),
        thinking=hide_key_in_answer(completion.thinking, key),
        model_digest=hide_key_in_answer(completion.model_digest or "", key) or None,
    )
    if clean == completion:
        return completion
    return replace(clean, key_hidden=True, notes=(*clean.notes, "the key was hidden"))


class KeyHiding:
    """A provider that a Python user passes in, without its key; see `poor_bench.ports.Provider`.

    Only the key that the LLM's `api_key_env` names is known.
    """

    def __init__(self, provider: Provider, llm: LLM, environ: Mapping[str, str]) -> None:
        self._provider = provider
        self._llm = llm
        self._environ = environ

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the provider."""
        with self._hidden_in_errors():
            completion = self._provider.complete(request, control)
        return without_key(completion, self._key)

    def preload(self, control: CallControl) -> float | None:
        """Bring the model into memory."""
        with self._hidden_in_errors():
            return self._provider.preload(control)

    def unload(self) -> None:
        """Free the model's memory."""
        self._provider.unload()

    def check(self) -> Reachability:
        """Find out whether the LLM can be asked."""
        with self._hidden_in_errors():
            found = self._provider.check()
        return replace(found, message=hide_keys(found.message, self._key))

    def close(self) -> None:
        """Free connections."""
        self._provider.close()

    @property
    def _key(self) -> str | None:
        return find_known_key(self._llm, self._environ)

    @contextmanager
    def _hidden_in_errors(self) -> Iterator[None]:
        """Hide the key in the message of an error; its type and facts stay."""
        try:
            yield
        except RunCancelledError:
            raise
        except PoorBenchError as error:
            error.args = (hide_keys(str(error), self._key),)
            error.hint = hide_keys(error.hint, self._key)
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            hidden = hide_keys(told, self._key)
            if hidden == told:
                raise
            raise ProviderError(hidden, kind=FailureKind.BAD_REQUEST) from None

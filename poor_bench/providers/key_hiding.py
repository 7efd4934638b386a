"""Hide the key of an LLM in everything that its provider returns or raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from poor_bench.errors import PoorBenchError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Provider, Reachability
from poor_bench.providers.api_keys import find_known_key, hide_key_in_answer, hide_keys


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

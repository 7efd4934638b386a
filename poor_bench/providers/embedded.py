"""LLMs that run inside this program: no server, no key, no network once their file is there.

A reply is computed in a thread of its own. The caller only waits for its pieces, and so notices
Ctrl-C, a cancelled run or a deadline at once, also while llama.cpp is busy with a long prompt. The
request has llama.cpp's form of OpenAI's chat completions:

| ours | here |
|---|---|
| temperature | 0 where it is not set: the same prompt gets the same reply |
| max_tokens | 512 where it is not set |
| num_ctx | tokens of prompt and reply together, 4096 where it is not set; when loading |
| model_path | a GGUF file of the user's own, relative to the workspace; when loading |
| keep_alive, stream | ignored |
| all others | as `openai_wire` and llama.cpp's dialect say |

An LLM's `concurrency` says how many of its requests are computed at once, 1 where it is not set;
with more, replies do not repeat exactly.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.metadata
import os
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.embedded_cache import MODEL_SOURCES, SMALLEST, open_default_cache
from poor_bench.providers.embedded_engine import (
    ENGINES,
    Engine,
    EnginePool,
    EngineSettings,
    require_library,
)
from poor_bench.providers.error_reply import read_error
from poor_bench.providers.failures import classify
from poor_bench.providers.openai_wire import OpenAIReplyReader, OpenAIWire, find_dialect
from poor_bench.providers.transport.watch import CallWatch


@dataclass(frozen=True, slots=True)
class _Held:
    """What a provider has in memory."""

    engine: Engine
    settings: EngineSettings
    digest: str
    """Of the model's file."""


class EmbeddedProvider:
    """One LLM in this process; see `poor_bench.ports.Provider`."""

    def __init__(self, llm: LLM, services: ProviderServices, engines: EnginePool = ENGINES) -> None:
        """Load nothing yet."""
        self._llm = llm
        self._services = services
        self._engines = engines
        self._held: _Held | None = None
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        held, load_ms = self._hold(control)
        body = build_request_body(self._llm, request)
        watch = CallWatch(control, self._services.clock)
        reader = OpenAIReplyReader(self._llm.name)
        parts = reader.parts
        with closing(held.engine.generate(body, watch.raise_if_over)) as pieces:
            for piece in pieces:
                raise_refusal(piece)
                if parts.queue_ms is None:
                    parts.queue_ms = watch.measure_ms()
                reader.feed(piece)
                if parts.has_begun:
                    watch.note_first_text()
        if not reader.close():
            raise ProviderError(
                "llama.cpp stopped in the middle of its reply", kind=FailureKind.SERVER_ERROR
            )
        parts.load_ms = load_ms or None
        parts.model_digest = held.digest
        return parts.to_completion(watch.measure_ms() + load_ms, watch.first_text_ms)

    def preload(self, control: CallControl) -> float | None:
        """Fetch the model's file if need be and load it; 0 where it was loaded before.

        Raises:
            ProviderError: If the model does not exist, or it cannot be fetched or loaded.
            RunCancelledError: If `control.cancelled()` turned true.
        """
        return self._hold(control)[1]

    def unload(self) -> None:
        """Free the model's memory, unless another LLM is using it."""
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            self._engines.give_back(held.settings)

    def check(self) -> Reachability:
        """Find out whether llama.cpp and the model's file are there; loads and fetches nothing."""
        return check_embedded(self._llm, self._services)

    def describe_server(self) -> str:
        """Name the library that runs the model with its version; empty if it is missing."""
        try:
            return f"xllamacpp {importlib.metadata.version('xllamacpp')}"
        except importlib.metadata.PackageNotFoundError:
            return ""

    def close(self) -> None:
        """Free the model's memory, unless another LLM is using it."""
        self.unload()

    def _hold(self, control: CallControl) -> tuple[_Held, float]:
        """Load the model if need be; also tell how long that took, in milliseconds."""
        with self._lock:
            if self._held is not None:
                return self._held, 0.0
            model = obtain_model(self._llm, self._services, control)
            settings = EngineSettings(
                path=model.path,
                context_tokens=choose_context_tokens(self._llm),
                slots=self._llm.concurrency or 1,
            )
            control.loading()
            engine, load_ms = self._engines.take(settings)
            self._held = _Held(engine, settings, model.digest)
            return self._held, load_ms


_DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
_DEFAULT_CONTEXT_TOKENS = 4096
_ALWAYS: Mapping[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_progress": True,
    "cache_prompt": False,
}


def build_request_body(llm: LLM, request: ChatRequest) -> dict[str, Any]:
    """Build the body of a request to llama.cpp."""
    complete = replace(request, parameters={**_DEFAULTS, **request.parameters})
    wire = OpenAIWire(llm.name, find_dialect("llamacpp"))
    return {**wire.body(complete, frozenset()), **_ALWAYS}


def choose_context_tokens(llm: LLM) -> int:
    """Choose the context size in tokens: prompt and reply together.

    Raises:
        ProviderError: If the LLM's num_ctx is not such a number.
    """
    wanted = llm.parameters.get("num_ctx", _DEFAULT_CONTEXT_TOKENS)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise ProviderError(
            f"{llm.id}: num_ctx must be a number of tokens, not {wanted!r}",
            kind=FailureKind.BAD_REQUEST,
        )
    return wanted


def raise_refusal(piece: Mapping[str, Any]) -> None:
    """Raise if a piece of a reply says that llama.cpp refuses the request.

    Raises:
        ProviderError: If it does; its kind says why.
    """
    if "error" not in piece:
        return
    error = read_error(piece)
    kind = classify(error)
    overflow = kind is FailureKind.CONTEXT_OVERFLOW
    hint = "shorten the prompt or raise the parameter num_ctx" if overflow else ""
    raise ProviderError(f"llama.cpp refused: {error.message}", kind=kind, hint=hint)


FILE_VARIABLE = "POOR_BENCH_EMBEDDED_GGUF"
_SAMPLE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that is there to be loaded."""

    path: Path
    digest: str
    """Tells this file from others, for results."""


def obtain_model(llm: LLM, services: ProviderServices, control: CallControl) -> ModelFile:
    """Find the file of an LLM's model; fetch it if need be.

    Raises:
        ProviderError: If the file does not exist and cannot be fetched.
        RunCancelledError: If `control.cancelled()` turned true.
    """
    own = find_own_file(llm, services)
    if own is not None:
        return ModelFile(own, _hash_samples(own))
    source = MODEL_SOURCES.get(llm.name)
    if source is None:
        raise make_unknown_model_error(llm)
    return ModelFile(open_default_cache(services.environ).obtain(source, control), source.digest)


def find_own_file(llm: LLM, services: ProviderServices) -> Path | None:
    """Find the file that the LLM or the environment names; None where neither does."""
    named = llm.parameters.get("model_path") or services.environ.get(FILE_VARIABLE)
    return services.workspace / Path(str(named)).expanduser() if named else None


def make_unknown_model_error(llm: LLM) -> ProviderError:
    """Make the error for a name that stands for no model."""
    near = difflib.get_close_matches(llm.name, MODEL_SOURCES, n=1)
    known = f"did you mean {near[0]!r}? " if near else f"known: {', '.join(MODEL_SOURCES)}; "
    return ProviderError(
        f"unknown embedded model {llm.name!r}",
        kind=FailureKind.MODEL_NOT_FOUND,
        hint=f"{known}set the parameter `model_path` to use your own GGUF file",
    )


def find_cached_model(name: str = SMALLEST, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Find the file of a model that is fetched on demand; None while it is not there.

    Raises:
        ProviderError: If the folder to look in does not exist.
    """
    path = open_default_cache(environ).locate(MODEL_SOURCES[name])
    return path if path.is_file() else None


def _hash_samples(path: Path) -> str:
    """Hash size, beginning and end: files of many gigabytes are not read for it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            beginning = file.read(_SAMPLE_BYTES)
            file.seek(max(0, size - _SAMPLE_BYTES))
            end = file.read(_SAMPLE_BYTES)
    except OSError as error:
        raise ProviderError(
            f"the model's file {path} cannot be read: {error.strerror}",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=f"see the parameter `model_path` and the variable {FILE_VARIABLE}",
        ) from error
    return f"sampled:{hashlib.sha256(b'%d' % size + beginning + end).hexdigest()[:16]}"


def check_embedded(llm: LLM, services: ProviderServices) -> Reachability:
    """True if llama.cpp is installed and the model's file there."""
    try:
        require_library()
        return _check_file(llm, services)
    except ProviderError as error:
        return Reachability(reachable=False, message=_add_hint(error))


def _check_file(llm: LLM, services: ProviderServices) -> Reachability:
    own = find_own_file(llm, services)
    if own is not None:
        message = str(own) if own.is_file() else f"the file {own} does not exist"
        return Reachability(reachable=True, model_present=own.is_file(), message=message)
    names = tuple(MODEL_SOURCES)
    source = MODEL_SOURCES.get(llm.name)
    if source is None:
        message = _add_hint(make_unknown_model_error(llm))
        return Reachability(reachable=True, model_present=False, message=message, models=names)
    if find_cached_model(llm.name, services.environ):
        return Reachability(reachable=True, model_present=True, models=names)
    message = f"its file ({source.download_bytes // 10**6} MB) is downloaded in the first run"
    return Reachability(reachable=True, message=message, models=names)


def _add_hint(error: ProviderError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)

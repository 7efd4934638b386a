"""The `ollama` provider: the native API, or OpenAI's where a server has no native one.

It also lists the models that a server has installed, as entries for llms.json.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.chat_wire import count_at, read_mapping, read_mappings, read_text
from poor_bench.providers.endpoint import resolve_endpoint
from poor_bench.providers.http_chat import CHECKING, HttpChat, describe_reachability, read_names
from poor_bench.providers.http_providers import OpenAIProvider
from poor_bench.providers.ollama_wire import DEFAULT_NUM_KEEP, OllamaWire, is_prompt_truncated

_OPENAI_PATH = "/v1"
_LOADING_TOKENS = 1
"""Ollama generates nothing without a message; proxies pass it on to servers that do."""
_IN_PASSING = CallControl(timeouts=Timeouts(connect_s=2.0, first_token_s=2.0, total_s=2.0))


@dataclass(frozen=True, slots=True)
class _ModelFacts:
    """What the server says of the model that it has loaded."""

    digest: str | None = None
    num_ctx: int | None = None
    memory_bytes: int | None = None
    gpu_share: float | None = None


class OllamaProvider:
    """One model of an Ollama server; see `poor_bench.ports.Provider`."""

    def __init__(self, llm: LLM, services: ProviderServices) -> None:
        """Connect to nothing yet.

        Raises:
            ConfigError: If the endpoint cannot be used.
        """
        self._endpoint = resolve_endpoint(llm, services.environ)
        url = self._endpoint.removesuffix(_OPENAI_PATH)
        self._llm = llm
        self._services = services
        self._wire = OllamaWire(llm.name)
        self._chat = HttpChat(
            llm,
            services,
            url,
            start_hint="start Ollama with `ollama serve`",
            model_hint=f"get it with `ollama pull {llm.name}`",
        )
        self._lock = threading.Lock()
        self._facts: _ModelFacts | None = None
        self._is_native = True if url == self._endpoint else None
        self._can_unload = True
        self._substitute: OpenAIProvider | None = None

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Ask the LLM; see `poor_bench.ports.Provider.complete`."""
        if substitute := self._find_instead(control):
            return substitute.complete(request, control)
        completion = self._chat.complete(self._wire, request, control)
        facts = self._fetch_model_facts()
        return replace(
            completion,
            model_digest=facts.digest,
            memory_bytes=facts.memory_bytes,
            gpu_share=facts.gpu_share,
            prompt_truncated=_was_truncated(request, completion, facts),
        )

    def preload(self, control: CallControl) -> float | None:
        """Load the model; return milliseconds, or None where the server has no such step."""
        if self._find_instead(control):
            return None
        control.loading()
        started = self._services.clock.monotonic()
        body = {"model": self._llm.name, "messages": [], "stream": False}
        body |= self._wire.loading({**self._llm.parameters, "max_tokens": _LOADING_TOKENS})
        try:
            self._chat.post(self._wire, self._wire.path, control, body)
        except ProviderError:
            self._can_unload = False
            raise
        self._can_unload = True
        return (self._services.clock.monotonic() - started) * 1000

    def unload(self) -> None:
        """Let the server drop the model from memory, if it can be reached."""
        if self._is_native is not True or not self._can_unload:
            return
        body = {"model": self._llm.name, "messages": [], "stream": False, "keep_alive": 0}
        body |= {"options": {"num_predict": _LOADING_TOKENS}}
        with suppress(ProviderError):
            self._chat.post(self._wire, self._wire.path, CHECKING, body)

    def check(self) -> Reachability:
        """Ask the server for the models that are installed."""
        return describe_reachability(self._llm.name, self._list_served)

    def list_installed(self) -> list[Mapping[str, Any]]:
        """List the models that the server has, as `/api/tags` describes them.

        Raises:
            ProviderError: If the server cannot be asked.
        """
        return read_mappings(self._fetch_tags(), "models")

    def describe_server(self) -> str:
        """Name the server with its version; empty if it does not tell."""
        try:
            reply = self._chat.get(self._wire, "/api/version", _IN_PASSING)
        except ProviderError:
            return ""
        version = read_text(reply, "version")
        return f"Ollama {version}" if version else ""

    def forget_model(self) -> None:
        """Ask anew for digest and memory of the model: the server may have another file by now."""
        self._facts = None

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()
        if self._substitute is not None:
            self._substitute.close()

    def _list_served(self) -> list[str]:
        substitute = self._find_instead(CHECKING)
        return (
            substitute.list_served()
            if substitute
            else read_names(self._fetch_tags(), "models", "model")
        )

    def _fetch_tags(self) -> dict[str, Any]:
        return self._chat.get(self._wire, "/api/tags", CHECKING)

    def _find_instead(self, control: CallControl) -> OpenAIProvider | None:
        """Choose who asks by OpenAI's API; None where the native one is there, decided once."""
        if self._is_native is None:
            with self._lock:
                if self._is_native is None:
                    self._is_native = self._has_native_api(control)
                    if not self._is_native:
                        self._substitute = OpenAIProvider(self._llm, self._services, self._endpoint)
        return self._substitute

    def _has_native_api(self, control: CallControl) -> bool:
        try:
            self._chat.get(self._wire, "/api/version", control)
        except ProviderError as error:
            if error.status not in {404, 405} and error.kind is not FailureKind.MALFORMED_REPLY:
                raise
            return False
        return True

    def _fetch_model_facts(self) -> _ModelFacts:
        facts = self._facts
        if facts is None:
            with self._lock:
                facts = self._facts = self._facts or self._fetch_facts()
        return facts

    def _fetch_facts(self) -> _ModelFacts:
        for path in ("/api/ps", "/api/tags"):
            with suppress(ProviderError):
                reply = self._chat.get(self._wire, path, _IN_PASSING)
                if model := _find_by_name(self._llm.name, read_mappings(reply, "models")):
                    return _read_facts(model)
        return _ModelFacts()


def _read_facts(model: Mapping[str, Any]) -> _ModelFacts:
    """Read the facts of a model from its entry; `/api/tags` does not state its memory."""
    in_gpu, size = count_at(model, "size_vram"), count_at(model, "size")
    is_loaded = in_gpu is not None and bool(size)
    has_file = size != 0  # proxies in front of other servers make a digest up, some at every start
    return _ModelFacts(
        digest=(read_text(model, "digest") or None) if has_file else None,
        num_ctx=count_at(model, "context_length"),
        memory_bytes=size if is_loaded else None,
        gpu_share=round(min(1.0, (in_gpu or 0) / (size or 1)), 4) if is_loaded else None,
    )


def _find_by_name(name: str, models: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    for model in models:
        if {read_text(model, "name"), read_text(model, "model")} & {name, f"{name}:latest"}:
            return model
    return None


def _was_truncated(request: ChatRequest, completion: Completion, facts: _ModelFacts) -> bool:
    parameters = request.parameters
    return is_prompt_truncated(
        completion.usage.prompt_tokens,
        sum(len(message.content.encode("utf-8", "replace")) for message in request.messages),
        count_at(parameters, "num_ctx") or facts.num_ctx,
        count_at(parameters, "num_keep") or DEFAULT_NUM_KEEP,
    )


_SIZE = re.compile(
    r"(?<!\d)(?:(\d{1,9}+)x)?(\d{1,9}+(?:\.\d{1,9}+)?)\s{0,9}+([KMBT])", re.IGNORECASE
)
_BILLIONS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def discover(endpoint: str, services: ProviderServices) -> list[dict[str, Any]]:
    """List an entry for every model that can chat.

    Args:
        endpoint: Base URL of the server; empty for the default one.
        services: Clock and environment.

    Returns:
        Entries with provider, name, size in billions where known, the endpoint where it is not
        the default, and notes (keys with `_`) on quantisation, digest, and who really runs it.

    Raises:
        ProviderError: If the server cannot be asked.
        ConfigError: If the endpoint is not a URL.
    """
    llm = LLM(id="ollama", provider="ollama", name="", endpoint=endpoint or None)
    provider = OllamaProvider(llm, services)
    try:
        models = provider.list_installed()
    finally:
        provider.close()
    return [describe_installed(model, endpoint) for model in models if can_chat(model)]


def describe_installed(model: Mapping[str, Any], endpoint: str) -> dict[str, Any]:
    """Make the entry for llms.json of one model of `/api/tags`."""
    details = read_mapping(model, "details")
    entry = {
        "provider": "ollama",
        "name": read_text(model, "model") or read_text(model, "name"),
        "endpoint": endpoint,
        "size": read_billions(read_text(details, "parameter_size")),
        "_quantization": read_text(details, "quantization_level"),
        "_digest": read_text(model, "digest"),
        "_remote": read_text(model, "remote_host"),
    }
    return {key: value for key, value in entry.items() if value}


def can_chat(model: Mapping[str, Any]) -> bool:
    """True if a model of `/api/tags` generates text, as far as the server tells."""
    capabilities = model.get("capabilities")
    if isinstance(capabilities, list) and capabilities:
        return "completion" in capabilities
    return "bert" not in read_text(read_mapping(model, "details"), "family")


def read_billions(parameter_size: str) -> float | None:
    """Read the billions of weights that a text such as `135M` or `8x7B` states.

    Example:
        >>> read_billions("134.52M")
        0.1345
    """
    found = _SIZE.search(parameter_size)
    if found is None:
        return None
    experts, number, unit = found.groups()
    return round(int(experts or 1) * float(number) * _BILLIONS[unit.upper()], 4)

"""The providers that are known by name: wire format, endpoint, key; and what each of them is lent.

A name that is not listed here is fine too, as long as its LLM has an `endpoint`: it is then taken
for a server that speaks OpenAI's chat completions, as nearly all do.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock


class WireFormat(StrEnum):
    """The form in which a provider is asked."""

    OLLAMA = "ollama"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    EMBEDDED = "embedded"
    SCRIPTED = "scripted"

    @property
    def has_endpoint(self) -> bool:
        """True if the provider is asked over HTTP."""
        return self not in {WireFormat.EMBEDDED, WireFormat.SCRIPTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """What is known of a provider by its name alone."""

    wire: WireFormat
    endpoint: str | None = None
    """Base URL where the LLM names none."""
    endpoint_env: str | None = None
    """Environment variable that replaces `endpoint`, by that provider's own convention."""
    api_key_env: str | None = None
    """Environment variable of the key, where the LLM names none."""
    takes_batches: bool = False
    """True if its own server answers batches at a lower price."""
    needs_key: bool = False
    """True if asking without a key is sure to fail."""


def _describe_hosted(
    endpoint: str, api_key_env: str, endpoint_env: str | None = None
) -> ProviderEntry:
    return ProviderEntry(
        wire=WireFormat.OPENAI,
        endpoint=endpoint,
        endpoint_env=endpoint_env,
        api_key_env=api_key_env,
        needs_key=True,
    )


def _make_local(port: int) -> ProviderEntry:
    return ProviderEntry(wire=WireFormat.OPENAI, endpoint=f"http://127.0.0.1:{port}/v1")


PROVIDERS: Mapping[str, ProviderEntry] = MappingProxyType(
    {
        "embedded": ProviderEntry(wire=WireFormat.EMBEDDED),
        "ollama": ProviderEntry(
            wire=WireFormat.OLLAMA, endpoint="http://127.0.0.1:11434", endpoint_env="OLLAMA_HOST"
        ),
        "openai": replace(
            _describe_hosted("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
            takes_batches=True,
        ),
        "anthropic": ProviderEntry(
            wire=WireFormat.ANTHROPIC,
            endpoint="https://api.anthropic.com",
            endpoint_env="ANTHROPIC_BASE_URL",
            api_key_env="ANTHROPIC_API_KEY",
            needs_key=True,
            takes_batches=True,
        ),
        "openrouter": _describe_hosted("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        "llm7": ProviderEntry(
            wire=WireFormat.OPENAI, endpoint="https://api.llm7.io/v1", api_key_env="LLM7_API_KEY"
        ),
        "groq": _describe_hosted("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        "mistral": _describe_hosted("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        "deepseek": _describe_hosted("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        "llamacpp": _make_local(8080),
        "vllm": _make_local(8000),
        "lmstudio": _make_local(1234),
        "scripted": ProviderEntry(wire=WireFormat.SCRIPTED),
    }
)


def list_provider_names() -> tuple[str, ...]:
    """List the names of the known providers, the ones of most use first."""
    return tuple(PROVIDERS)


def find_entry(llm: LLM) -> ProviderEntry:
    """Find the entry of an LLM's provider.

    Raises:
        ConfigError: If the provider is not known and the LLM has no endpoint.
    """
    entry = PROVIDERS.get(llm.provider.lower())
    if entry is not None:
        return entry
    if llm.endpoint:
        return ProviderEntry(wire=WireFormat.OPENAI)
    raise ConfigError(
        f"{llm.id}: unknown provider {llm.provider!r} without an endpoint",
        hint=_suggest_way_out(llm),
    )


def _suggest_way_out(llm: LLM) -> str:
    nearest = difflib.get_close_matches(llm.provider.lower(), PROVIDERS, n=1)
    known = f"did you mean {nearest[0]!r}" if nearest else f"known: {', '.join(PROVIDERS)}"
    return f"{known}; or add the endpoint of an OpenAI-compatible server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderServices:
    """What a provider may use besides its LLM's own settings."""

    clock: Clock
    workspace: Path = Path()
    """Folder that relative paths in an LLM's parameters start from."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """Where keys, proxies and default endpoints are looked up; never shown."""

"""From a configured LLM to the provider that asks it; what a run needs is imported, no more."""

from __future__ import annotations

from poor_bench.models.llm import LLM
from poor_bench.ports import Provider
from poor_bench.providers.catalog import WireFormat, find_entry, provider_names
from poor_bench.providers.endpoint import endpoint_key, is_local, resolve_endpoint
from poor_bench.providers.services import ProviderServices

__all__ = [
    "ProviderServices",
    "create_provider",
    "endpoint_key",
    "is_local",
    "provider_names",
    "resolve_endpoint",
]


def create_provider(llm: LLM, services: ProviderServices) -> Provider:
    """Return a new provider of one LLM; nothing is asked yet.

    Raises:
        ConfigError: If the provider is unknown, or the endpoint or script of the LLM unusable.
        MissingExtraError: If the provider needs a package that is not installed.
    """
    match find_entry(llm).wire:
        case WireFormat.OLLAMA:
            from poor_bench.providers.ollama import OllamaProvider

            return OllamaProvider(llm, services)
        case WireFormat.OPENAI:
            from poor_bench.providers.openai import OpenAIProvider

            return OpenAIProvider(llm, services)
        case WireFormat.ANTHROPIC:
            from poor_bench.providers.anthropic import AnthropicProvider

            return AnthropicProvider(llm, services)
        case WireFormat.EMBEDDED:
            from poor_bench.providers.embedded import EmbeddedProvider

            return EmbeddedProvider(llm, services)
        case WireFormat.SCRIPTED:
            from poor_bench.providers.scripted import ScriptedProvider

            return ScriptedProvider(llm, services)

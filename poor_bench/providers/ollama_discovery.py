"""The models that an Ollama server has installed, as entries for llms.json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.models.llm import LLM
from poor_bench.providers.ollama import OllamaProvider
from poor_bench.providers.reply_parts import mapping_at, text_at
from poor_bench.providers.services import ProviderServices

_SIZE = re.compile(
    r"(?<!\d)(?:(\d{1,9}+)x)?(\d{1,9}+(?:\.\d{1,9}+)?)\s{0,9}+([KMBT])", re.IGNORECASE
)
_BILLIONS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def discover(endpoint: str, services: ProviderServices) -> list[dict[str, Any]]:
    """Return an entry for every model that can chat.

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
        models = provider.installed()
    finally:
        provider.close()
    return [tag_to_entry(model, endpoint) for model in models if can_chat(model)]


def tag_to_entry(model: Mapping[str, Any], endpoint: str) -> dict[str, Any]:
    """Return the entry for llms.json of one model of `/api/tags`."""
    details = mapping_at(model, "details")
    entry = {
        "provider": "ollama",
        "name": text_at(model, "model") or text_at(model, "name"),
        "endpoint": endpoint,
        "size": size_in_billions(text_at(details, "parameter_size")),
        "_quantization": text_at(details, "quantization_level"),
        "_digest": text_at(model, "digest"),
        "_remote": text_at(model, "remote_host"),
    }
    return {key: value for key, value in entry.items() if value}


def can_chat(model: Mapping[str, Any]) -> bool:
    """Return whether a model of `/api/tags` generates text, as far as the server tells."""
    capabilities = model.get("capabilities")
    if isinstance(capabilities, list) and capabilities:
        return "completion" in capabilities
    return "bert" not in text_at(mapping_at(model, "details"), "family")


def size_in_billions(parameter_size: str) -> float | None:
    """Return the billions of weights that a text such as `135M` or `8x7B` states.

    Example:
        >>> size_in_billions("134.52M")
        0.1345
    """
    found = _SIZE.search(parameter_size)
    if found is None:
        return None
    experts, number, unit = found.groups()
    return round(int(experts or 1) * float(number) * _BILLIONS[unit.upper()], 4)

"""The parameters of LLMs in our names: which there are, and which each wire format takes; pure.

| name | meaning |
|---|---|
| temperature, top_p, top_k, min_p | sampling, as everywhere |
| max_tokens | most tokens to generate, thinking included |
| seed | for servers that can repeat themselves |
| stop | a text or a list of texts |
| think | true, false, "low", "medium", "high", "max"; Anthropic also takes a number of tokens |
| num_ctx | tokens of context (Ollama) |
| keep_alive | how long the model stays in memory (Ollama): "10m", seconds, -1 |
| response_format | "json", {"type": "json_schema", "schema": {...}}, or "class": see formats.md |
| repeat_penalty, presence_penalty, frequency_penalty | against repetition |
| prompt_cache | true has Anthropic cache the fixed start of a prompt; others do so by themselves |
| stream | false: the reply in one piece, its first token untimed; "auto": so up to 256 max_tokens |
| extra_body | a mapping merged into the request as it stands |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.providers.catalog import PROVIDERS, WireFormat
from poor_bench.providers.openai_wire import Dialect, find_dialect

_SAMPLING = frozenset({"temperature", "top_p", "top_k", "max_tokens", "seed", "stop"})
_PENALTIES = frozenset({"repeat_penalty", "presence_penalty", "frequency_penalty"})
_HTTP = frozenset({"stream", "extra_body"})
_DIFFERING = frozenset({"top_k", "min_p", "repeat_penalty", "think"})
COMMON = (
    _SAMPLING
    | _PENALTIES
    | _HTTP
    | {"min_p", "think", "num_ctx", "keep_alive", "response_format", "prompt_cache"}
)
OLLAMA_OPTIONS = frozenset(
    {
        "num_keep",
        "num_predict",
        "typical_p",
        "repeat_last_n",
        "mirostat",
        "mirostat_tau",
        "mirostat_eta",
        "num_batch",
        "num_gpu",
        "main_gpu",
        "use_mmap",
        "num_thread",
        "draft_num_predict",
    }
)
_TAKEN: Mapping[WireFormat, frozenset[str]] = {
    WireFormat.OLLAMA: (COMMON - {"prompt_cache"}) | OLLAMA_OPTIONS,
    WireFormat.OPENAI: COMMON - {"num_ctx", "keep_alive", "prompt_cache"},
    WireFormat.ANTHROPIC: (_SAMPLING - {"seed"})
    | _HTTP
    | {"think", "response_format", "prompt_cache"},
    WireFormat.EMBEDDED: (COMMON - {"keep_alive", "stream", "prompt_cache"}) | {"model_path"},
    WireFormat.SCRIPTED: frozenset(
        {"script", "responses", "default", "failures", "latency_ms", "load_ms"}
    ),
}
"""What differs by wire format; one that is not listed takes the common parameters."""


def list_known_parameters(provider: str) -> frozenset[str]:
    """List the parameters that mean something: the common ones, and those of the provider."""
    return COMMON | _TAKEN.get(_find_wire_format(provider), COMMON)


def list_unknown_parameters(provider: str, parameters: Mapping[str, Any]) -> list[str]:
    """List the parameters that mean nothing to us, such as misspelt ones, in their order."""
    known = list_known_parameters(provider)
    return [name for name in parameters if name not in known and not name.startswith("_")]


def list_ignored_parameters(provider: str, parameters: Mapping[str, Any]) -> list[str]:
    """List the parameters that are known but have no effect with this provider."""
    wire = _find_wire_format(provider)
    taken = _TAKEN.get(wire, COMMON)
    if wire is WireFormat.OPENAI:
        taken -= _find_missing(find_dialect(provider))
    return [name for name in parameters if name in COMMON and name not in taken]


def _find_missing(dialect: Dialect) -> frozenset[str]:
    missing = _DIFFERING - set(dialect.names)
    return missing if dialect.thinking is None else missing - {"think"}


def _find_wire_format(provider: str) -> WireFormat:
    entry = PROVIDERS.get(provider.lower())
    return entry.wire if entry else WireFormat.OPENAI

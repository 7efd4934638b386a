"""A configured LLM: what to ask, where, within which limits, and how it is named.

Its id is `provider:name`, with a suffix for think where a model stands twice. Names of one base
model differ in quantisation, tuning words, tags and dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait, in seconds; each counts from the moment the request is sent."""

    connect_s: float = 10.0
    first_token_s: float = 300.0
    total_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens; None means unknown."""

    input: float | None = None
    output: float | None = None
    cached_input: float | None = None
    """Of prompt tokens that the server read from its cache; `input` where None."""
    cache_write: float | None = None
    """Of prompt tokens that the server wrote to its cache; `input` where None."""
    batch: float = 0.5
    """Share of the prices that a request in a batch costs."""

    def for_batch(self) -> Prices:
        """Scale all prices to those of a batch.

        Example:
            >>> Prices(input=2, output=10).for_batch().output
            5.0
        """

        def scale(price: float | None) -> float | None:
            return None if price is None else price * self.batch

        return Prices(
            input=scale(self.input),
            output=scale(self.output),
            cached_input=scale(self.cached_input),
            cache_write=scale(self.cache_write),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LLM:
    """A configured LLM."""

    id: str
    """Unique in the workspace: `provider:name`, with a suffix where the model stands twice."""
    provider: str
    name: str
    """The provider's name of the model."""
    label: str = ""
    """What screens show; the id where empty."""
    endpoint: str | None = None
    """Base URL; the provider's own default where None."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; never the key."""
    base_system_prompt: str = ""
    size: float | None = None
    """Parameters in billions."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Sampling and provider settings: temperature, max_tokens, think, num_ctx, ..."""
    enabled: bool = True
    concurrency: int | None = None
    """Requests at once on this LLM's endpoint; the provider's default where None."""
    requests_per_minute: float | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    prices: Prices = field(default_factory=Prices)
    tags: tuple[str, ...] = ()

    @property
    def think(self) -> bool | str | None:
        """Thinking: on, off or an effort; None leaves it to the server."""
        value = self.parameters.get("think")
        return value if isinstance(value, bool | str) else None


_THINK_SUFFIXES = ("true", "false", "low", "medium", "high", "max")


def build_base_llm_id(provider: str, name: str) -> str:
    """Build the id that an LLM has by default.

    Example:
        >>> build_base_llm_id("ollama", "gemma3:1b-it-qat")
        'ollama:gemma3:1b-it-qat'
    """
    return f"{provider}:{name}"


def build_think_suffix(think: bool | str | int | None) -> str:
    """Write the think parameter as a suffix of an id; empty if it is not set.

    Example:
        >>> build_think_suffix(False), build_think_suffix("low"), build_think_suffix(None)
        (':false', ':low', '')
    """
    return "" if think is None else f":{str(think).lower()}"


def split_think_suffix(llm_id: str) -> tuple[str, str]:
    """Split an id into what stands before its think suffix, and the suffix or an empty string.

    Example:
        >>> split_think_suffix("ollama:gemma3:1b-it-qat:false")
        ('ollama:gemma3:1b-it-qat', ':false')
        >>> split_think_suffix("ollama:gemma3:1b-it-qat")
        ('ollama:gemma3:1b-it-qat', '')
    """
    head, _, tail = llm_id.rpartition(":")
    if tail in _THINK_SUFFIXES and ":" in head:
        return head, f":{tail}"
    return llm_id, ""


def resolve_llm_id(result_key: str, llms: Sequence[LLM]) -> str | None:
    """Resolve the id of the LLM whose results stand under `result_key`.

    Older files put the think parameter behind every key (`ollama:gemma3:1b-it-qat:false`), also
    where the model stands once and where its entry does not mention think.

    Args:
        result_key: A key of `results` in results.json.
        llms: The LLMs of the workspace.

    Returns:
        The id of the LLM that has exactly this id; else of the only one of this `provider:name`
        that agrees with the suffix, an entry that sets think coming before one that does not.
        None where no LLM matches, or several do.
    """
    if any(llm.id == result_key for llm in llms):
        return result_key
    base, suffix = split_think_suffix(result_key)
    namesakes = [llm for llm in llms if build_base_llm_id(llm.provider, llm.name) == base]
    if not suffix:
        return _read_only_id(namesakes)
    agreeing = [llm for llm in namesakes if build_think_suffix(llm.think) == suffix]
    return _read_only_id(agreeing or [llm for llm in namesakes if llm.think is None])


def _read_only_id(llms: Iterable[LLM]) -> str | None:
    ids = [llm.id for llm in llms]
    return ids[0] if len(ids) == 1 else None


_FILE = re.compile(r"\.(gguf|safetensors|bin)$")
_SIZE = re.compile(r"(?:\d{1,6}x)?[ea]?\d{1,6}(?:\.\d{1,6})?[bm]")
_DATE = re.compile(r"[-:@](?:20\d\d-\d\d-\d\d|20\d{6})(?=$|[-:@])")
_QUANTISATION = re.compile(
    r"i?q\d(?:_\w+)*|[fbi](?:loat|p|f)?(?:4|8|16|32)|mxfp4|nvfp4|int[48]|[48]bit|w\d+a\d+"
)
_WORDS = frozenset({
    "instruct", "it", "chat", "qat", "awq", "gptq", "gguf", "ggml", "exl2", "mlx", "bnb", "ud",
    "hf", "dynamic", "imatrix", "latest", "free", "preview",
})  # fmt: skip


def cut_model_name(name: str) -> str:
    """Name the base model of a provider's model name: its family, then its size.

    Variants differ in quantisation, tuning for chat, tag, date or who offers them.

    Example:
        >>> cut_model_name("qwen2.5-coder:7b-instruct-q4_K_M")
        'qwen2.5-coder:7b'
        >>> cut_model_name("Qwen/Qwen2.5-Coder-7B-Instruct-GGUF")
        'qwen2.5-coder:7b'
    """
    last = name.strip().lower().replace("\\", "/").rstrip("/").rpartition("/")[2]
    parts = re.split(r"[-:@\s]+", _DATE.sub("", _FILE.sub("", last)))
    kept = [part for part in parts if part and not _is_variant(part)]
    sizes = [part for part in kept if _SIZE.fullmatch(part)]
    family = "-".join(part for part in kept if part not in sizes)
    return ":".join(filter(None, (family, "-".join(sizes)))) or name


def _is_variant(part: str) -> bool:
    return part in _WORDS or _QUANTISATION.fullmatch(part) is not None

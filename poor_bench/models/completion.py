"""What is sent to an LLM and what comes back, in one form for all providers, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from poor_bench.models.llm import Prices


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
    n_stable: int = field(default=0, compare=False)
    """Characters at the start that all tests of one template share, for a cache of prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request to one LLM."""

    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The LLM's parameters, in our names (see docs/formats.md); the provider translates them."""


class FinishReason(StrEnum):
    """Why the LLM stopped."""

    STOP = "stop"
    LENGTH = "length"
    """The token limit, or the end of the context."""
    REFUSAL = "refusal"
    """The LLM or its provider's filter declined."""
    LOOP = "loop"
    """The server gave up on a repetition."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the server counts them; None where it does not say."""

    prompt_tokens: int | None = None
    """All of the prompt, cached or not."""
    completion_tokens: int | None = None
    """All that was generated, thinking included."""
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the prompt, what the server read from its cache."""
    cache_write_tokens: int | None = None
    """Of the prompt, what the server wrote to its cache for later requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where the time went, in milliseconds; None where it is not known.

    `load_ms` is never part of `total_ms`-based latency figures: it is the model's way into memory.
    """

    total_ms: float
    """From sending the request to the last byte, measured here."""
    first_token_ms: float | None = None
    """From sending the request to the first piece of text, measured here."""
    load_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a server tells of its limit of requests in the headers of a reply."""

    limit: int
    remaining: int
    reset_s: float
    """Until the allowance is full again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an LLM returned."""

    text: str
    """The answer as it came, minus thinking that the server itself kept apart."""
    thinking: str = ""
    """Thinking that the server kept apart; empty where it did not."""
    finish_reason: FinishReason = FinishReason.STOP
    usage: Usage = field(default_factory=Usage)
    timing: Timing
    model_digest: str | None = None
    """What exactly ran, where the server tells (digest, fingerprint, dated name)."""
    machine: str = ""
    """Name of the machine that asked, if it is not this one."""
    memory_bytes: int | None = None
    """How much memory the loaded model takes in all, where the server tells."""
    gpu_share: float | None = None
    """Share of it that lies in GPU memory, 0.0 to 1.0."""
    prompt_truncated: bool = False
    """The server's counters show that the beginning of the prompt was dropped."""
    key_hidden: bool = False
    """The key was echoed, and `[key]` stands in its place."""
    via: str = ""
    """`batch` for a reply of a batch, whose times say nothing; empty for a live call."""
    notes: tuple[str, ...] = ()
    """What was adapted on the way, such as a parameter that the server refused."""
    allowance: Allowance | None = None
    """Requests that the server says are left; None where it does not say."""


_MILLION = 1_000_000
_BYTES_PER_TOKEN = 4
"""Of English; other languages have more bytes and about as many tokens per word."""
_TOKENS_PER_MESSAGE = 5
"""Tokens that a chat template adds."""
_EXPECTED_REPLY_TOKENS = 500


def cost_usd(usage: Usage, prices: Prices) -> float | None:
    """Compute US dollars; None if prices or token counts are unknown.

    Cached prompt tokens cost `cached_input` where it is given, else `input`, and those that were
    written to a cache `cache_write`, else `input`. Thinking tokens are part of the completion and
    cost `output`.

    Example:
        >>> cost_usd(Usage(prompt_tokens=1000, completion_tokens=100), Prices(input=1, output=10))
        0.002
        >>> usage = Usage(prompt_tokens=1000, completion_tokens=0, cache_write_tokens=1000)
        >>> cost_usd(usage, Prices(input=2, output=10, cache_write=2.5))
        0.0025
    """
    if prices.input is None or prices.output is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    cached_price = prices.input if prices.cached_input is None else prices.cached_input
    total = (usage.prompt_tokens - cached) * prices.input
    total += cached * cached_price + usage.completion_tokens * prices.output
    if prices.cache_write is not None:
        written = min(usage.cache_write_tokens or 0, usage.prompt_tokens - cached)
        total += written * (prices.cache_write - prices.input)
    return total / _MILLION


def sum_known(costs: Iterable[float | None]) -> float | None:
    """Add the costs that are known; None if none is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def sum_whole(costs: Sequence[float | None]) -> float | None:
    """Add costs; None if one of them is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text by its length.

    Example:
        >>> estimate_tokens("How many tokens is this?")
        6
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def estimate_cost_usd(
    prices: Prices,
    messages: Iterable[Message],
    max_tokens: int | None = None,
    expected_reply_tokens: int | None = None,
) -> float | None:
    """Estimate the cost of a request in US dollars; None if prices are unknown.

    Args:
        prices: Of the LLM.
        messages: What is sent.
        max_tokens: Most tokens of the reply, where that is limited.
        expected_reply_tokens: How long replies are as a rule; 500 tokens where that is not known.
    """
    sizes = [estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in messages]
    reply = _EXPECTED_REPLY_TOKENS if expected_reply_tokens is None else expected_reply_tokens
    if max_tokens is not None:
        reply = min(reply, max_tokens)
    return cost_usd(Usage(prompt_tokens=sum(sizes), completion_tokens=reply), prices)

"""Cost of completions in US dollars, known and estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from poor_bench.models.completion import Message, Usage
from poor_bench.models.llm import Prices

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

"""What a completion costs."""

from __future__ import annotations

from poor_bench.models.completion import Usage
from poor_bench.models.llm import Prices

_MILLION = 1_000_000


def cost_usd(usage: Usage, prices: Prices) -> float | None:
    """Return US dollars, or None where prices or token counts are unknown.

    Cached prompt tokens cost `cached_input` where it is given, else `input`; thinking tokens are
    part of the completion and cost `output`.

    Example:
        >>> cost_usd(Usage(prompt_tokens=1000, completion_tokens=100), Prices(input=1, output=10))
        0.002
    """
    if prices.input is None or prices.output is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    cached_price = prices.input if prices.cached_input is None else prices.cached_input
    total = (usage.prompt_tokens - cached) * prices.input
    total += cached * cached_price + usage.completion_tokens * prices.output
    return total / _MILLION

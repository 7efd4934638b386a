"""Cost of a reply, with what the server wrote to its cache of prompts."""

from __future__ import annotations

from poor_bench.models.completion import Usage
from poor_bench.models.llm import Prices
from poor_bench.scoring.cost import cost_usd

_MILLION = 1_000_000


def reply_cost_usd(usage: Usage, prices: Prices) -> float | None:
    """Compute US dollars; None if prices or token counts are unknown.

    Prompt tokens that were written to a cache cost `cache_write` where it is given, else `input`.
    All others cost what `cost_usd` says. This is not done there: the code of `scoring` is part of
    the fingerprint of each score, and a price makes no score stale.

    Example:
        >>> usage = Usage(prompt_tokens=1000, completion_tokens=0, cache_write_tokens=1000)
        >>> reply_cost_usd(usage, Prices(input=2, output=10, cache_write=2.5))
        0.0025
    """
    cost = cost_usd(usage, prices)
    if cost is None or prices.cache_write is None or prices.input is None:
        return cost
    fresh = (usage.prompt_tokens or 0) - (usage.cached_tokens or 0)
    written = max(0, min(usage.cache_write_tokens or 0, fresh))
    return cost + written * (prices.cache_write - prices.input) / _MILLION

"""From our `think` to Anthropic's thinking settings, which differ between models; pure.

Models from Opus 4.6 on think adaptively and are told an effort; older ones are given a budget of
tokens. Which form a model takes is found out by its refusal.
"""

from __future__ import annotations

from typing import Any

from poor_bench.providers.chat_wire import Refused

ADAPTIVE = "thinking.adaptive"
DISABLED = "thinking.disabled"
_SMALLEST_BUDGET = 1024
_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "max": 32768}


def thinking_settings(think: Any, max_tokens: int | None, refused: Refused) -> dict[str, Any]:
    """Return what `think` adds to a request; empty where the model's own way is wanted.

    Args:
        think: True or False, "low" to "max", or a budget in tokens.
        max_tokens: Most tokens that may be generated, thinking included; None where not set.
        refused: What the model has refused so far.
    """
    if think is None:
        return {}
    if think is False:
        return {} if DISABLED in refused else {"thinking": {"type": "disabled"}}
    by_budget = isinstance(think, int) and not isinstance(think, bool)
    if by_budget or ADAPTIVE in refused:
        budget = think if by_budget else _BUDGETS.get(str(think), _BUDGETS["medium"])
        if max_tokens is not None:
            budget = min(budget, max_tokens - 1)
        return {"thinking": {"type": "enabled", "budget_tokens": max(budget, _SMALLEST_BUDGET)}}
    settings: dict[str, Any] = {"thinking": {"type": "adaptive"}}
    if isinstance(think, str):
        settings["output_config"] = {"effort": think}
    return settings

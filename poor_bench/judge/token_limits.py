"""How much an LLM may read and write at once, as its parameters say: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULT_MAX_TOKENS = 4000


def reply_limit(parameters: Mapping[str, Any]) -> int:
    """Return the most tokens of a reply, 4000 where nothing is set."""
    limit = parameters.get("max_tokens")
    return limit if isinstance(limit, int) else DEFAULT_MAX_TOKENS


def context_limit(parameters: Mapping[str, Any]) -> int | None:
    """Return the tokens of prompt and reply together; None where that is not known."""
    context = parameters.get("num_ctx")
    return context if isinstance(context, int) else None

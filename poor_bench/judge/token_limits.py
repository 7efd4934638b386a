"""Token limits of a model from its parameters; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULT_MAX_TOKENS = 4000


def reply_limit(parameters: Mapping[str, Any]) -> int:
    """Highest number of reply tokens; 4000 by default."""
    limit = parameters.get("max_tokens")
    return limit if isinstance(limit, int) else DEFAULT_MAX_TOKENS


def context_limit(parameters: Mapping[str, Any]) -> int | None:
    """Context length in tokens; None if unknown."""
    context = parameters.get("num_ctx")
    return context if isinstance(context, int) else None

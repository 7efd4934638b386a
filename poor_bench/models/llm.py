"""A configured LLM: what to ask, where, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
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
        """Whether (or how hard) the LLM thinks first; None leaves it to the server."""
        value = self.parameters.get("think")
        return value if isinstance(value, bool | str) else None

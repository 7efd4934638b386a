"""What is sent to an LLM and what comes back, in one form for all providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


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

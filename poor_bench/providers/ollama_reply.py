"""Ollama's native chat: replies, streamed or in one piece; pure.

Source:
    https://github.com/ollama/ollama/blob/main/docs/api.md; durations are in nanoseconds, and
    counters that are zero are left out. Proxies in front of other servers differ:
    `ollama-openai-proxy` 0.7.0 streams chats with the text under `response`, and
    `ollama-proxy-plus` 0.1.0 reports all of the time as generating.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import FinishReason, Usage
from poor_bench.providers.reply_parts import (
    ReplyParts,
    count_at,
    mapping_at,
    number_at,
    text_at,
)

_NS_PER_MS = 1e6
_FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


class OllamaReplyReader:
    """Gathers one reply; see `chat_wire.ReplyReader`."""

    def __init__(self) -> None:
        self.parts = ReplyParts()

    def feed(self, value: Mapping[str, Any]) -> bool:
        """Take one line, or a whole reply."""
        message = mapping_at(value, "message")
        if thinking := text_at(message, "thinking"):
            self.parts.thinking.append(thinking)
        if text := text_at(message, "content") or text_at(value, "response"):
            self.parts.text.append(text)
        if value.get("done") is not True:
            return False
        self._take_counters(value)
        return True

    def close(self) -> bool:
        """Return False: only a line that says so completes a reply."""
        return False

    def _take_counters(self, value: Mapping[str, Any]) -> None:
        parts = self.parts
        reason = text_at(value, "done_reason")
        parts.finish_reason = _FINISH_REASONS.get(reason, FinishReason.OTHER)
        parts.usage = Usage(
            prompt_tokens=count_at(value, "prompt_eval_count"),
            completion_tokens=count_at(value, "eval_count"),
            cached_tokens=count_at(value, "prompt_eval_cached_count"),
        )
        if _is_made_up(value):
            return
        parts.load_ms = _milliseconds(value, "load_duration")
        parts.prefill_ms = _milliseconds(value, "prompt_eval_duration")
        parts.decode_ms = _milliseconds(value, "eval_duration")
        parts.queue_ms = _queue_ms(value)


def _is_made_up(value: Mapping[str, Any]) -> bool:
    """Return whether generating took all of the time, so that reading the prompt took none."""
    total, generating = number_at(value, "total_duration"), number_at(value, "eval_duration")
    return bool(total) and generating is not None and generating >= (total or 0.0)


def _milliseconds(value: Mapping[str, Any], key: str) -> float | None:
    nanoseconds = number_at(value, key)
    return None if nanoseconds is None else nanoseconds / _NS_PER_MS


def _queue_ms(value: Mapping[str, Any]) -> float | None:
    """Return what of the total is neither loading, prompt nor answer; None where unknown."""
    total = number_at(value, "total_duration")
    if total is None:
        return None
    keys = ("load_duration", "prompt_eval_duration", "eval_duration")
    rest = total - sum(number_at(value, key) or 0.0 for key in keys)
    return rest / _NS_PER_MS if rest > 0 else None

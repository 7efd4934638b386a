"""Anthropic's Messages: replies, streamed or in one piece; pure.

Source:
    https://docs.claude.com/en/api/messages-streaming
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import FinishReason, Usage
from poor_bench.providers.reply_parts import ReplyParts, count_at, mapping_at, mappings_at, text_at

_STOP_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSAL,
}


class AnthropicReplyReader:
    """Gathers one reply; see `chat_wire.ReplyReader`."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._usage: dict[str, Any] = {}
        self.parts = ReplyParts()

    def feed(self, value: Mapping[str, Any]) -> bool:
        """Take one event, or a whole message."""
        match value.get("type"):
            case "message":
                self._take_message(value)
                for block in mappings_at(value, "content"):
                    self._take_block(block)
                return True
            case "message_start":
                self._take_message(mapping_at(value, "message"))
            case "content_block_start":
                self._take_block(mapping_at(value, "content_block"))
            case "content_block_delta":
                self._take_block(mapping_at(value, "delta"))
            case "message_delta":
                self._take_stop(mapping_at(value, "delta"))
                self._take_usage(value)
            case "message_stop":
                return True
        return False

    def close(self) -> bool:
        """Return whether the reply is complete, though its last event is missing."""
        return self.parts.finish_reason is not None

    def _take_message(self, message: Mapping[str, Any]) -> None:
        model = text_at(message, "model")
        self.parts.model_digest = model if model != self._model else None
        self._take_usage(message)
        self._take_stop(message)

    def _take_block(self, block: Mapping[str, Any]) -> None:
        if text := text_at(block, "text"):
            self.parts.text.append(text)
        if thinking := text_at(block, "thinking"):
            self.parts.thinking.append(thinking)

    def _take_stop(self, value: Mapping[str, Any]) -> None:
        if reason := text_at(value, "stop_reason"):
            self.parts.finish_reason = _STOP_REASONS.get(reason, FinishReason.OTHER)

    def _take_usage(self, value: Mapping[str, Any]) -> None:
        self._usage.update(
            {key: item for key, item in mapping_at(value, "usage").items() if item is not None}
        )
        self.parts.usage = _usage(self._usage)


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = count_at(usage, "cache_read_input_tokens")
    inputs = (
        count_at(usage, "input_tokens"),
        count_at(usage, "cache_creation_input_tokens"),
        cached,
    )
    known = [count for count in inputs if count is not None]
    return Usage(
        prompt_tokens=sum(known) if known else None,
        completion_tokens=count_at(usage, "output_tokens"),
        thinking_tokens=count_at(mapping_at(usage, "output_tokens_details"), "thinking_tokens"),
        cached_tokens=cached,
    )

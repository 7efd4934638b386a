"""OpenAI's chat completions: replies, streamed or in one piece; pure.

Source:
    https://platform.openai.com/docs/api-reference/chat/streaming; `reasoning_content` is
    DeepSeek's, vLLM's and llama.cpp's field, `reasoning` OpenRouter's, Groq's and Ollama's;
    `timings` is llama.cpp's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import FinishReason, Usage
from poor_bench.providers.reply_parts import (
    ReplyParts,
    count_at,
    mapping_at,
    mappings_at,
    number_at,
    text_at,
)

_FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.REFUSAL,
    "refusal": FinishReason.REFUSAL,
}


class OpenAIReplyReader:
    """Gathers one reply; see `chat_wire.ReplyReader`."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._refused = False
        self.parts = ReplyParts()

    def feed(self, value: Mapping[str, Any]) -> bool:
        """Take one chunk, or a whole reply."""
        if "end_of_stream" in value:
            return True
        self._take_facts(value)
        choices = mappings_at(value, "choices")
        if not choices:
            return False
        choice = choices[0]
        self._take_text(mapping_at(choice, "delta") or mapping_at(choice, "message"))
        if reason := text_at(choice, "finish_reason"):
            known = _FINISH_REASONS.get(reason, FinishReason.OTHER)
            self.parts.finish_reason = FinishReason.REFUSAL if self._refused else known
        return isinstance(choice.get("message"), Mapping)

    def close(self) -> bool:
        """Return whether the reply is complete: some servers leave out the mark of the end."""
        return self.parts.finish_reason is not None

    def _take_text(self, message: Mapping[str, Any]) -> None:
        thinking = text_at(message, "reasoning_content") or text_at(message, "reasoning")
        refusal = text_at(message, "refusal")
        self._refused = self._refused or bool(refusal)
        content = message.get("content")
        if isinstance(content, list):
            thinking += "".join(_texts(content, "thinking"))
            content = "".join(_texts(content, "text"))
        if thinking:
            self.parts.thinking.append(thinking)
        text = content if isinstance(content, str) and content else refusal
        if text:
            self.parts.text.append(text)

    def _take_facts(self, value: Mapping[str, Any]) -> None:
        parts = self.parts
        if usage := mapping_at(value, "usage"):
            parts.usage = _usage(usage)
        if timings := mapping_at(value, "timings"):
            parts.prefill_ms = number_at(timings, "prompt_ms")
            parts.decode_ms = number_at(timings, "predicted_ms")
        if parts.model_digest is None:
            model = _without_folders(text_at(value, "model"))
            known = [model if model != self._model else "", text_at(value, "system_fingerprint")]
            parts.model_digest = " ".join(filter(None, known)) or None


def _without_folders(model: str) -> str:
    """Return a model's name; llama.cpp gives the path of its file on the server."""
    return re.split(r"[\\/]", model)[-1] if model.endswith(".gguf") else model


def _texts(content: list[Any], kind: str) -> list[str]:
    """Return the texts of a content that comes in typed parts, as Mistral's does."""
    texts = []
    for part in content:
        if isinstance(part, Mapping) and part.get("type") == kind:
            inner = part.get(kind)
            texts += _texts(inner, "text") if isinstance(inner, list) else [text_at(part, kind)]
    return texts


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = count_at(mapping_at(usage, "prompt_tokens_details"), "cached_tokens")
    return Usage(
        prompt_tokens=count_at(usage, "prompt_tokens"),
        completion_tokens=count_at(usage, "completion_tokens"),
        thinking_tokens=count_at(
            mapping_at(usage, "completion_tokens_details"), "reasoning_tokens"
        ),
        cached_tokens=count_at(usage, "prompt_cache_hit_tokens") if cached is None else cached,
    )

"""Anthropic's Messages: requests, refusals, and replies, streamed or in one piece; pure.

| ours | on the wire |
|---|---|
| system messages | system |
| max_tokens | max_tokens (4096, and room for thinking, where it is not set: it has to be) |
| temperature, top_p, top_k | as they are, left out once they are refused |
| stop | stop_sequences |
| think | thinking, output_config.effort (see below) |
| response_format with a schema | output_config.format, left out once it is refused |
| stream | stream |
| prompt_cache | cache_control behind the system prompt and the fixed start of the template |
| seed, num_ctx, keep_alive, min_p, the penalties, response_format "json" | ignored |

Models from Opus 4.6 on think adaptively and are told an effort; older ones are given a budget of
tokens. Which form a model takes is found out by its refusal.

Source:
    https://docs.claude.com/en/api/messages and https://docs.claude.com/en/api/messages-streaming
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest, FinishReason, Message, Usage
from poor_bench.providers.chat_wire import (
    Refused,
    ReplyParts,
    count_at,
    find_json_schema,
    is_streamed,
    list_stop_texts,
    merge_extra_body,
    read_mapping,
    read_mappings,
    read_text,
    rename_parameters,
)
from poor_bench.providers.error_reply import ErrorReply, find_refused_parameter, is_refusal
from poor_bench.providers.transport.reply import Framing

_VERSION = "2023-06-01"
_DEFAULT_MAX_TOKENS = 4096
_CAN_DO_WITHOUT = ("top_k", "top_p", "temperature")
_NAMES = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}
_FORMAT = "output_config.format"
_OBJECTS_TO_FORMAT = re.compile(r"format|structured|json.?schema|output_config", re.IGNORECASE)
_OBJECTS_TO_THINKING = re.compile(r"thinking|output_config|effort|adaptive", re.IGNORECASE)


class AnthropicWire:
    """Messages with one model; see `chat_wire.ChatWire`."""

    path = "/v1/messages"
    framing = Framing.EVENTS

    def __init__(self, model: str) -> None:
        self._model = model

    def headers(self, key: str | None) -> dict[str, str]:
        """Build the headers of a request."""
        headers = {"Content-Type": "application/json", "anthropic-version": _VERSION}
        if key:
            headers["x-api-key"] = key
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Build the body of a request, without what was refused."""
        parameters = request.parameters
        limit = parameters.get("max_tokens")
        room = limit if isinstance(limit, int) else None
        settings = build_thinking_settings(parameters.get("think"), room, refused)
        budget = settings.get("thinking", {}).get("budget_tokens", 0)
        is_cached = parameters.get("prompt_cache") is True
        body = {
            "model": self._model,
            "max_tokens": budget + _DEFAULT_MAX_TOKENS if limit is None else limit,
            "messages": _list_turns(request, is_cached=is_cached),
            "stream": is_streamed(parameters),
            **rename_parameters(parameters, _NAMES),
        }
        if system := _write_system(request):
            body["system"] = [_mark_cached(system)] if is_cached else system
        if stop := list_stop_texts(parameters):
            body["stop_sequences"] = stop
        schema = find_json_schema(parameters)
        if schema and _FORMAT not in refused:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        body = merge_extra_body(body, settings)
        kept = {name: value for name, value in body.items() if name not in refused}
        return merge_extra_body(kept, parameters.get("extra_body"))

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> AnthropicReplyReader:
        """Build the reader of the reply."""
        return AnthropicReplyReader(self._model)

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Name the refused part: a sampling parameter, a schema or a form of thinking."""
        name = find_refused_parameter(error, [name for name in _CAN_DO_WITHOUT if name in body])
        if name is not None:
            return name
        if _is_about_format(error, body):
            return _FORMAT
        if not _OBJECTS_TO_THINKING.search(error.message):
            return None
        form = read_mapping(body, "thinking").get("type")
        return {"adaptive": ADAPTIVE, "disabled": DISABLED}.get(str(form))

    def note(self, refused: str) -> str:
        """Say in one sentence what was done about a refusal."""
        if refused == ADAPTIVE:
            return "the model has no adaptive thinking; a token budget was sent instead"
        return f"the model does not accept {refused}; it was omitted"


def _is_about_format(error: ErrorReply, body: Mapping[str, Any]) -> bool:
    """True if a model takes no schema at all; one that is wrong is for the user to fix."""
    return (
        "format" in read_mapping(body, "output_config")
        and is_refusal(error)
        and _OBJECTS_TO_FORMAT.search(error.message) is not None
    )


def _list_turns(request: ChatRequest, *, is_cached: bool) -> list[dict[str, Any]]:
    return [
        {"role": message.role, "content": _write_blocks(message) if is_cached else message.content}
        for message in request.messages
        if message.role != "system"
    ]


def _write_blocks(message: Message) -> str | list[dict[str, Any]]:
    """Split a message behind what all tests of its template share; blocks must not be blank."""
    stable, rest = message.content[: message.n_stable], message.content[message.n_stable :]
    if not stable.strip() or not rest.strip():
        return message.content
    return [_mark_cached(stable), {"type": "text", "text": rest}]


def _mark_cached(text: str) -> dict[str, Any]:
    """Make a block that ends a part of the prompt which the server keeps for five minutes.

    Source:
        https://docs.claude.com/en/docs/build-with-claude/prompt-caching
    """
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _write_system(request: ChatRequest) -> str:
    texts = [message.content for message in request.messages if message.role == "system"]
    return "\n\n".join(filter(None, texts))


ADAPTIVE = "thinking.adaptive"
DISABLED = "thinking.disabled"
_SMALLEST_BUDGET = 1024
_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "max": 32768}


def build_thinking_settings(think: Any, max_tokens: int | None, refused: Refused) -> dict[str, Any]:
    """Build the fields that `think` adds to a request; empty for the model's default.

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
                for block in read_mappings(value, "content"):
                    self._take_block(block)
                return True
            case "message_start":
                self._take_message(read_mapping(value, "message"))
            case "content_block_start":
                self._take_block(read_mapping(value, "content_block"))
            case "content_block_delta":
                self._take_block(read_mapping(value, "delta"))
            case "message_delta":
                self._take_stop(read_mapping(value, "delta"))
                self._take_usage(value)
            case "message_stop":
                return True
        return False

    def close(self) -> bool:
        """True if the reply is complete, though its last event is missing."""
        return self.parts.finish_reason is not None

    def _take_message(self, message: Mapping[str, Any]) -> None:
        model = read_text(message, "model")
        self.parts.model_digest = model if model != self._model else None
        self._take_usage(message)
        self._take_stop(message)

    def _take_block(self, block: Mapping[str, Any]) -> None:
        if text := read_text(block, "text"):
            self.parts.text.append(text)
        if thinking := read_text(block, "thinking"):
            self.parts.thinking.append(thinking)

    def _take_stop(self, value: Mapping[str, Any]) -> None:
        if reason := read_text(value, "stop_reason"):
            self.parts.finish_reason = _STOP_REASONS.get(reason, FinishReason.OTHER)

    def _take_usage(self, value: Mapping[str, Any]) -> None:
        self._usage.update(
            {key: item for key, item in read_mapping(value, "usage").items() if item is not None}
        )
        self.parts.usage = _read_usage(self._usage)


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    cached = count_at(usage, "cache_read_input_tokens")
    written = count_at(usage, "cache_creation_input_tokens")
    inputs = (count_at(usage, "input_tokens"), written, cached)
    known = [count for count in inputs if count is not None]
    return Usage(
        prompt_tokens=sum(known) if known else None,
        completion_tokens=count_at(usage, "output_tokens"),
        thinking_tokens=count_at(read_mapping(usage, "output_tokens_details"), "thinking_tokens"),
        cached_tokens=cached,
        cache_write_tokens=written,
    )

"""Ollama's native chat: requests, refusals, and replies, streamed or in one piece; pure.

| ours | on the wire |
|---|---|
| temperature, top_p, top_k, min_p, seed, stop, num_ctx, the penalties | options |
| max_tokens | options.num_predict |
| any other option of Ollama (num_gpu, num_thread, ...) | options |
| think | think: true, false or a level; left out once the model cannot think |
| response_format "json" | format "json" |
| response_format with a schema | format, the schema itself |
| keep_alive, stream | as they are |

A prompt that is longer than the context is refused rather than cut (`truncate: false`); servers
that do not know that field answer with status 200 all the same: they keep the prompt's first
`num_keep` tokens and about the second half of the room, and drop what lies between. The count of
prompt tokens is then a number that only the context determines, which gives the cut away.

Source:
    https://github.com/ollama/ollama/blob/main/docs/api.md; durations are in nanoseconds, and
    counters that are zero are left out. Proxies in front of other servers differ:
    `ollama-openai-proxy` 0.7.0 streams chats with the text under `response`, and
    `ollama-proxy-plus` 0.1.0 reports all of the time as generating.
    Truncation: Ollama's `contextShiftPromptLimit` (llm/llama_server.go) and the counts that users
    report in ollama/ollama#3839 (16387 of 32768), #17889 and #18399 (2050 of 4096).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest, FinishReason, Usage
from poor_bench.providers.chat_wire import (
    Refused,
    ReplyParts,
    count_at,
    find_json_schema,
    is_streamed,
    list_messages,
    list_stop_texts,
    merge_extra_body,
    number_at,
    read_mapping,
    read_text,
    rename_parameters,
    wants_json,
)
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.parameters import OLLAMA_OPTIONS
from poor_bench.providers.transport.reply import Framing

_OPTIONS = {
    **{name: name for name in sorted(OLLAMA_OPTIONS)},
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "max_tokens": "num_predict",
    "seed": "seed",
    "num_ctx": "num_ctx",
    "repeat_penalty": "repeat_penalty",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_LEVEL_REFUSED = "think level"
_NO_THINKING = re.compile(r"not support(ed)? think|think.{0,200}not support", re.IGNORECASE)
_NO_LEVEL = re.compile(r"think(ing)? (value|level)", re.IGNORECASE)


class OllamaWire:
    """Native chat with one model; see `chat_wire.ChatWire`."""

    path = "/api/chat"
    framing = Framing.LINES

    def __init__(self, model: str) -> None:
        self._model = model

    def headers(self, key: str | None) -> dict[str, str]:
        """Build the headers of a request."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Build the body of a request, without what was refused."""
        parameters = request.parameters
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list_messages(request),
            "stream": is_streamed(parameters),
            "truncate": False,
        }
        schema = find_json_schema(parameters)
        if schema is not None or wants_json(parameters):
            body["format"] = "json" if schema is None else schema
        think = parameters.get("think")
        if isinstance(think, bool | str) and "think" not in refused:
            body["think"] = True if _LEVEL_REFUSED in refused else think
        return merge_extra_body({**body, **self.loading(parameters)}, parameters.get("extra_body"))

    def loading(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """List the options that must stay equal between requests; a change reloads the model."""
        options = rename_parameters(parameters, _OPTIONS)
        if stop := list_stop_texts(parameters):
            options["stop"] = stop
        body: dict[str, Any] = {"options": options} if options else {}
        return body | rename_parameters(parameters, {"keep_alive": "keep_alive"})

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> OllamaReplyReader:
        """Build the reader of the reply."""
        return OllamaReplyReader()

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Name `think`, or its level, if the model cannot do that."""
        think = body.get("think")
        if isinstance(think, str) and _NO_LEVEL.search(error.message):
            return _LEVEL_REFUSED
        refuses = think is not None and _NO_THINKING.search(error.message)
        return "think" if refuses else None

    def note(self, refused: str) -> str:
        """Say in one sentence what was done about a refusal."""
        if refused == _LEVEL_REFUSED:
            return "the model does not support levels of thinking; think: true was sent instead"
        return "the model does not support thinking; think was omitted"


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
        message = read_mapping(value, "message")
        if thinking := read_text(message, "thinking"):
            self.parts.thinking.append(thinking)
        if text := read_text(message, "content") or read_text(value, "response"):
            self.parts.text.append(text)
        if value.get("done") is not True:
            return False
        self._take_counters(value)
        return True

    def close(self) -> bool:
        """False: only a line that says so completes a reply."""
        return False

    def _take_counters(self, value: Mapping[str, Any]) -> None:
        parts = self.parts
        reason = read_text(value, "done_reason")
        parts.finish_reason = _FINISH_REASONS.get(reason, FinishReason.OTHER)
        parts.usage = Usage(
            prompt_tokens=count_at(value, "prompt_eval_count"),
            completion_tokens=count_at(value, "eval_count"),
            cached_tokens=count_at(value, "prompt_eval_cached_count"),
        )
        if _is_made_up(value):
            return
        parts.load_ms = _read_milliseconds(value, "load_duration")
        parts.prefill_ms = _read_milliseconds(value, "prompt_eval_duration")
        parts.decode_ms = _read_milliseconds(value, "eval_duration")
        parts.queue_ms = _queue_ms(value)


def _is_made_up(value: Mapping[str, Any]) -> bool:
    """True if generating took all of the time, so that reading the prompt took none."""
    total, generating = number_at(value, "total_duration"), number_at(value, "eval_duration")
    return bool(total) and generating is not None and generating >= (total or 0.0)


def _read_milliseconds(value: Mapping[str, Any], key: str) -> float | None:
    nanoseconds = number_at(value, key)
    return None if nanoseconds is None else nanoseconds / _NS_PER_MS


def _queue_ms(value: Mapping[str, Any]) -> float | None:
    """Compute the time that is not loading, prompt or answer; None if unknown."""
    total = number_at(value, "total_duration")
    if total is None:
        return None
    keys = ("load_duration", "prompt_eval_duration", "eval_duration")
    rest = total - sum(number_at(value, key) or 0.0 for key in keys)
    return rest / _NS_PER_MS if rest > 0 else None


DEFAULT_NUM_KEEP = 4
_USUAL_CONTEXTS = tuple(1024 * 2**power for power in range(1, 9))


def is_prompt_truncated(
    prompt_tokens: int | None,
    prompt_bytes: int,
    num_ctx: int | None,
    num_keep: int = DEFAULT_NUM_KEEP,
) -> bool:
    """True if the counters show that part of the prompt was dropped.

    Args:
        prompt_tokens: `prompt_eval_count` of the reply; None where it has none.
        prompt_bytes: Length of all messages in UTF-8. A prompt that was cut had more tokens than
            the context, and a token has a byte at least.
        num_ctx: Tokens of context; the usual sizes are tried where it is not known.
        num_keep: Tokens that are kept at the beginning; a BOS token may come on top.

    Example:
        >>> is_prompt_truncated(2050, 40_000, 4096)
        True
        >>> is_prompt_truncated(2051, 40_000, 32768)
        False
    """
    if prompt_tokens is None:
        return False
    contexts: Iterable[int] = _USUAL_CONTEXTS if num_ctx is None else (num_ctx,)
    return any(
        prompt_bytes > context and _is_signature(prompt_tokens, context, num_keep)
        for context in contexts
    )


def _is_signature(prompt_tokens: int, num_ctx: int, num_keep: int) -> bool:
    return prompt_tokens == num_ctx or prompt_tokens in {
        num_ctx - max((num_ctx - keep) // 2, 1) for keep in (num_keep, num_keep + 1)
    }

"""OpenAI's chat completions, which most servers speak: requests, refusals and replies; pure.

| ours | on the wire |
|---|---|
| max_tokens | max_tokens, or max_completion_tokens once that is refused |
| stop | stop |
| response_format "json" | response_format json_object |
| response_format with a schema | response_format json_schema, strict unless `strict: false` |
| stream | stream, with stream_options.include_usage |
| think, sampling, penalties | as the dialect of the server says |
| num_ctx, keep_alive | ignored |

Servers differ in these parameters:

| | thinking | top_k, min_p | repeat_penalty |
|---|---|---|---|
| openai, groq, deepseek | reasoning_effort | ignored | ignored |
| mistral | ignored | ignored | ignored |
| openrouter | reasoning | sent | repetition_penalty |
| vllm | chat_template_kwargs | sent | repetition_penalty |
| llamacpp | chat_template_kwargs | sent | repeat_penalty |
| any other | reasoning_effort | sent | repeat_penalty |

Source:
    https://platform.openai.com/docs/api-reference/chat and
    https://platform.openai.com/docs/api-reference/chat/streaming; `reasoning_content` is
    DeepSeek's, vLLM's and llama.cpp's field, `reasoning` OpenRouter's, Groq's and Ollama's;
    `timings` is llama.cpp's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    read_mappings,
    read_text,
    rename_parameters,
    wants_json,
)
from poor_bench.providers.error_reply import ErrorReply, find_refused_parameter
from poor_bench.providers.transport.reply import Framing

_CAN_DO_WITHOUT = (
    "stream_options",
    "top_k",
    "min_p",
    "repeat_penalty",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "top_p",
    "temperature",
    "stop",
    "reasoning_effort",
    "reasoning",
    "chat_template_kwargs",
    "max_completion_tokens",
    "max_tokens",
    "response_format",
    "stream",
)
_NEAREST_EFFORT = {"max": "high", "none": "minimal"}


class OpenAIWire:
    """Chat completions with one model in one dialect; see `chat_wire.ChatWire`."""

    path = "/chat/completions"
    framing = Framing.EVENTS

    def __init__(self, model: str, dialect: Dialect) -> None:
        self._model = model
        self._dialect = dialect

    def headers(self, key: str | None) -> dict[str, str]:
        """Build the headers of a request."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Build the body of a request, without what was refused."""
        parameters = request.parameters
        body: dict[str, Any] = {"model": self._model, "messages": list_messages(request)}
        body.update(rename_parameters(parameters, self._dialect.names))
        body.update(_limit(parameters, refused))
        if stop := list_stop_texts(parameters):
            body["stop"] = stop
        if wanted := _build_response_format(parameters):
            body["response_format"] = wanted
        think = parameters.get("think")
        if self._dialect.thinking is not None and isinstance(think, bool | str):
            body.update(_find_nearest_effort(self._dialect.thinking(think), refused))
        if is_streamed(parameters) and "stream" not in refused:
            body.update(stream=True, stream_options={"include_usage": True})
        kept = {name: value for name, value in body.items() if name not in refused}
        return merge_extra_body(kept, parameters.get("extra_body"))

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> OpenAIReplyReader:
        """Build the reader of the reply."""
        return OpenAIReplyReader(self._model)

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Name the parameter that the server does not take; an effort with its value."""
        name = find_refused_parameter(error, [name for name in _CAN_DO_WITHOUT if name in body])
        if name == "reasoning_effort" and body[name] in _NEAREST_EFFORT:
            return f"{name}={body[name]}"
        return name

    def note(self, refused: str) -> str:
        """Say in one sentence what was done about a refusal."""
        name, _, value = refused.partition("=")
        instead = "max_completion_tokens" if name == "max_tokens" else _NEAREST_EFFORT.get(value)
        if instead:
            return f"the server does not accept {refused}; {instead} was sent instead"
        return f"the server does not accept {refused}; it was omitted"


def _limit(parameters: Mapping[str, Any], refused: Refused) -> dict[str, Any]:
    name = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    return rename_parameters(parameters, {"max_tokens": name})


def _find_nearest_effort(thinking: dict[str, Any], refused: Refused) -> dict[str, Any]:
    effort = thinking.get("reasoning_effort")
    if f"reasoning_effort={effort}" in refused:
        return {"reasoning_effort": _NEAREST_EFFORT[str(effort)]}
    return thinking


def _build_response_format(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    schema = find_json_schema(parameters)
    if schema is None:
        return {"type": "json_object"} if wants_json(parameters) else None
    wanted = parameters["response_format"]
    given = wanted.get("json_schema") or wanted
    return {
        "type": "json_schema",
        "json_schema": {
            "name": given.get("name", "answer"),
            "schema": schema,
            "strict": given.get("strict", True),
        },
    }


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
        choices = read_mappings(value, "choices")
        if not choices:
            return False
        choice = choices[0]
        self._take_text(read_mapping(choice, "delta") or read_mapping(choice, "message"))
        if reason := read_text(choice, "finish_reason"):
            known = _FINISH_REASONS.get(reason, FinishReason.OTHER)
            self.parts.finish_reason = FinishReason.REFUSAL if self._refused else known
        return isinstance(choice.get("message"), dict)

    def close(self) -> bool:
        """True if the reply is complete: some servers leave out the mark of the end."""
        return self.parts.finish_reason is not None

    def _take_text(self, message: Mapping[str, Any]) -> None:
        thinking = read_text(message, "reasoning_content") or read_text(message, "reasoning")
        refusal = read_text(message, "refusal")
        self._refused = self._refused or bool(refusal)
        content = message.get("content")
        if isinstance(content, list):
            thinking += "".join(_list_texts(content, "thinking"))
            content = "".join(_list_texts(content, "text"))
        if thinking:
            self.parts.thinking.append(thinking)
        text = content if isinstance(content, str) and content else refusal
        if text:
            self.parts.text.append(text)

    def _take_facts(self, value: Mapping[str, Any]) -> None:
        parts = self.parts
        if usage := read_mapping(value, "usage"):
            parts.usage = _read_usage(usage)
        if timings := read_mapping(value, "timings"):
            parts.prefill_ms = number_at(timings, "prompt_ms")
            parts.decode_ms = number_at(timings, "predicted_ms")
        if parts.model_digest is None:
            model = _drop_folders(read_text(value, "model"))
            known = [model if model != self._model else "", read_text(value, "system_fingerprint")]
            parts.model_digest = " ".join(filter(None, known)) or None


def _drop_folders(model: str) -> str:
    """Cut the folders from a model's name; llama.cpp gives the path of its file."""
    return re.split(r"[\\/]", model)[-1] if model.endswith(".gguf") else model


def _list_texts(content: list[Any], kind: str) -> list[str]:
    """List the texts of a content that comes in typed parts, as Mistral's does."""
    texts = []
    for part in content:
        if isinstance(part, Mapping) and part.get("type") == kind:
            inner = part.get(kind)
            texts += (
                _list_texts(inner, "text") if isinstance(inner, list) else [read_text(part, kind)]
            )
    return texts


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    details = read_mapping(usage, "prompt_tokens_details")
    cached = count_at(details, "cached_tokens")
    return Usage(
        prompt_tokens=count_at(usage, "prompt_tokens"),
        completion_tokens=count_at(usage, "completion_tokens"),
        thinking_tokens=count_at(
            read_mapping(usage, "completion_tokens_details"), "reasoning_tokens"
        ),
        cached_tokens=count_at(usage, "prompt_cache_hit_tokens") if cached is None else cached,
        cache_write_tokens=count_at(details, "cache_write_tokens"),
    )


def _write_effort(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"reasoning_effort": think}
    return {"reasoning_effort": "medium" if think else "none"}


def _write_reasoning(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"reasoning": {"effort": "xhigh" if think == "max" else think}}
    return {"reasoning": {"enabled": think}}


def _write_template(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": think}}
    return {"chat_template_kwargs": {"enable_thinking": think}}


_EVERYWHERE: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}


_LOCAL: Mapping[str, str] = {
    **_EVERYWHERE,
    "top_k": "top_k",
    "min_p": "min_p",
    "repeat_penalty": "repeat_penalty",
}


_REPETITION: Mapping[str, str] = {**_LOCAL, "repeat_penalty": "repetition_penalty"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of server wants to be asked."""

    names: Mapping[str, str]
    """Our names of plain parameters to the server's."""
    thinking: Callable[[bool | str], dict[str, Any]] | None
    """From `think` to what is added to the body; None where thinking cannot be asked for."""
    takes_any_model_name: bool = False
    """True if the server has one model and answers to every name."""


_HOSTED = Dialect(_EVERYWHERE, _write_effort)


_DIALECTS: Mapping[str, Dialect] = {
    "openai": _HOSTED,
    "groq": _HOSTED,
    "deepseek": _HOSTED,
    "mistral": Dialect(_EVERYWHERE, None),
    "openrouter": Dialect(_REPETITION, _write_reasoning),
    "vllm": Dialect(_REPETITION, _write_template),
    "llamacpp": Dialect(_LOCAL, _write_template, takes_any_model_name=True),
}


def find_dialect(provider: str) -> Dialect:
    """Find the dialect of a provider; unknown ones get what most local servers take."""
    return _DIALECTS.get(provider.lower(), Dialect(_LOCAL, _write_effort))

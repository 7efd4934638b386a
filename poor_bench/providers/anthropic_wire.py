"""Anthropic's Messages: requests and refusals; pure.

| ours | on the wire |
|---|---|
| system messages | system |
| max_tokens | max_tokens (4096, and room for thinking, where it is not set: it has to be) |
| temperature, top_p, top_k | as they are, left out once they are refused |
| stop | stop_sequences |
| think | thinking, output_config.effort, as `anthropic_thinking` says |
| response_format with a schema | output_config.format, left out once it is refused |
| stream | stream |
| seed, num_ctx, keep_alive, min_p, the penalties, response_format "json" | ignored |

Source:
    https://docs.claude.com/en/api/messages
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.providers.anthropic_reply import AnthropicReplyReader
from poor_bench.providers.anthropic_thinking import ADAPTIVE, DISABLED, thinking_settings
from poor_bench.providers.chat_wire import Refused
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.refusals import is_refusal, refused_parameter
from poor_bench.providers.reply_parts import mapping_at
from poor_bench.providers.request_parts import json_schema_of, merged, renamed, stop_texts
from poor_bench.providers.transport.streams import Framing

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
        """Return the headers of a request."""
        headers = {"Content-Type": "application/json", "anthropic-version": _VERSION}
        if key:
            headers["x-api-key"] = key
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Return the body of a request, without what was refused."""
        parameters = request.parameters
        limit = parameters.get("max_tokens")
        room = limit if isinstance(limit, int) else None
        settings = thinking_settings(parameters.get("think"), room, refused)
        budget = settings.get("thinking", {}).get("budget_tokens", 0)
        body = {
            "model": self._model,
            "max_tokens": budget + _DEFAULT_MAX_TOKENS if limit is None else limit,
            "messages": _turns(request),
            "stream": bool(parameters.get("stream", True)),
            **renamed(parameters, _NAMES),
        }
        if system := _system(request):
            body["system"] = system
        if stop := stop_texts(parameters):
            body["stop_sequences"] = stop
        schema = json_schema_of(parameters)
        if schema and _FORMAT not in refused:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        body = merged(body, settings)
        kept = {name: value for name, value in body.items() if name not in refused}
        return merged(kept, parameters.get("extra_body"))

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> AnthropicReplyReader:
        """Return what takes the reply."""
        return AnthropicReplyReader(self._model)

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Return what the model does not take: sampling, a schema or a form of thinking."""
        name = refused_parameter(error, [name for name in _CAN_DO_WITHOUT if name in body])
        if name is not None:
            return name
        if _objects_to_format(error, body):
            return _FORMAT
        if not _OBJECTS_TO_THINKING.search(error.message):
            return None
        form = mapping_at(body, "thinking").get("type")
        return {"adaptive": ADAPTIVE, "disabled": DISABLED}.get(str(form))

    def note(self, refused: str) -> str:
        """Return one sentence on what was done about a refusal."""
        if refused == ADAPTIVE:
            return "the model has no adaptive thinking; a token budget was sent instead"
        return f"the model does not accept {refused}; it was omitted"


def _objects_to_format(error: ErrorReply, body: Mapping[str, Any]) -> bool:
    """Return whether a model takes no schema at all; one that is wrong is the user's to mend."""
    return (
        "format" in mapping_at(body, "output_config")
        and is_refusal(error)
        and _OBJECTS_TO_FORMAT.search(error.message) is not None
    )


def _turns(request: ChatRequest) -> list[dict[str, str]]:
    return [
        {"role": message.role, "content": message.content}
        for message in request.messages
        if message.role != "system"
    ]


def _system(request: ChatRequest) -> str:
    texts = [message.content for message in request.messages if message.role == "system"]
    return "\n\n".join(filter(None, texts))

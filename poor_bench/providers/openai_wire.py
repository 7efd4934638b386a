"""OpenAI's chat completions, which most servers speak: requests and refusals; pure.

| ours | on the wire |
|---|---|
| max_tokens | max_tokens, or max_completion_tokens once that is refused |
| stop | stop |
| response_format "json" | response_format json_object |
| response_format with a schema | response_format json_schema, strict unless `strict: false` |
| stream | stream, with stream_options.include_usage |
| think, sampling, penalties | as `openai_dialect` says |
| num_ctx, keep_alive | ignored |

Source:
    https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.providers.chat_wire import Refused
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.openai_dialect import Dialect
from poor_bench.providers.openai_reply import OpenAIReplyReader
from poor_bench.providers.refusals import refused_parameter
from poor_bench.providers.request_parts import (
    json_schema_of,
    merged,
    messages_of,
    renamed,
    stop_texts,
    wants_json,
)
from poor_bench.providers.transport.streams import Framing

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
        """Return the headers of a request."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Return the body of a request, without what was refused."""
        parameters = request.parameters
        body: dict[str, Any] = {"model": self._model, "messages": messages_of(request)}
        body.update(renamed(parameters, self._dialect.names))
        body.update(_limit(parameters, refused))
        if stop := stop_texts(parameters):
            body["stop"] = stop
        if wanted := _response_format(parameters):
            body["response_format"] = wanted
        think = parameters.get("think")
        if self._dialect.thinking is not None and isinstance(think, bool | str):
            body.update(_nearest_effort(self._dialect.thinking(think), refused))
        if parameters.get("stream", True) and "stream" not in refused:
            body.update(stream=True, stream_options={"include_usage": True})
        kept = {name: value for name, value in body.items() if name not in refused}
        return merged(kept, parameters.get("extra_body"))

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> OpenAIReplyReader:
        """Return what takes the reply."""
        return OpenAIReplyReader(self._model)

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Return the parameter that the server does not take; an effort with its value."""
        name = refused_parameter(error, [name for name in _CAN_DO_WITHOUT if name in body])
        if name == "reasoning_effort" and body[name] in _NEAREST_EFFORT:
            return f"{name}={body[name]}"
        return name

    def note(self, refused: str) -> str:
        """Return one sentence on what was done about a refusal."""
        name, _, value = refused.partition("=")
        instead = "max_completion_tokens" if name == "max_tokens" else _NEAREST_EFFORT.get(value)
        if instead:
            return f"the server does not accept {refused}; {instead} was sent instead"
        return f"the server does not accept {refused}; it was omitted"


def _limit(parameters: Mapping[str, Any], refused: Refused) -> dict[str, Any]:
    name = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    return renamed(parameters, {"max_tokens": name})


def _nearest_effort(thinking: dict[str, Any], refused: Refused) -> dict[str, Any]:
    effort = thinking.get("reasoning_effort")
    if f"reasoning_effort={effort}" in refused:
        return {"reasoning_effort": _NEAREST_EFFORT[str(effort)]}
    return thinking


def _response_format(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    schema = json_schema_of(parameters)
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

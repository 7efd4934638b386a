"""Ollama's native chat: requests and refusals; pure.

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
that do not know that field cut it, which `ollama_truncation` finds out.

Source:
    https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.providers.chat_wire import Refused
from poor_bench.providers.error_reply import ErrorReply
from poor_bench.providers.ollama_reply import OllamaReplyReader
from poor_bench.providers.parameters import OLLAMA_OPTIONS
from poor_bench.providers.request_parts import (
    json_schema_of,
    merged,
    messages_of,
    renamed,
    stop_texts,
    wants_json,
)
from poor_bench.providers.transport.streams import Framing

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
        """Return the headers of a request."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def body(self, request: ChatRequest, refused: Refused) -> dict[str, Any]:
        """Return the body of a request, without what was refused."""
        parameters = request.parameters
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages_of(request),
            "stream": bool(parameters.get("stream", True)),
            "truncate": False,
        }
        schema = json_schema_of(parameters)
        if schema is not None or wants_json(parameters):
            body["format"] = "json" if schema is None else schema
        think = parameters.get("think")
        if isinstance(think, bool | str) and "think" not in refused:
            body["think"] = True if _LEVEL_REFUSED in refused else think
        return merged({**body, **self.loading(parameters)}, parameters.get("extra_body"))

    def loading(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return what has to be the same in every request, or the model is loaded anew."""
        options = renamed(parameters, _OPTIONS)
        if stop := stop_texts(parameters):
            options["stop"] = stop
        body: dict[str, Any] = {"options": options} if options else {}
        return body | renamed(parameters, {"keep_alive": "keep_alive"})

    def reader(self, request: ChatRequest, body: Mapping[str, Any]) -> OllamaReplyReader:
        """Return what takes the reply."""
        return OllamaReplyReader()

    def refusal(self, error: ErrorReply, body: Mapping[str, Any]) -> str | None:
        """Return `think`, or its level, if the model cannot do that."""
        think = body.get("think")
        if isinstance(think, str) and _NO_LEVEL.search(error.message):
            return _LEVEL_REFUSED
        refuses = think is not None and _NO_THINKING.search(error.message)
        return "think" if refuses else None

    def note(self, refused: str) -> str:
        """Return one sentence on what was done about a refusal."""
        if refused == _LEVEL_REFUSED:
            return "the model does not support levels of thinking; think: true was sent instead"
        return "the model does not support thinking; think was omitted"

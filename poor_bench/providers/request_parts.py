"""What requests of several wire formats have in common; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest


def messages_of(request: ChatRequest) -> list[dict[str, str]]:
    """Return the messages as role and content."""
    return [{"role": message.role, "content": message.content} for message in request.messages]


def renamed(parameters: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that are set, under the names that a server knows them by."""
    return {
        theirs: parameters[ours]
        for ours, theirs in names.items()
        if parameters.get(ours) is not None
    }


def stop_texts(parameters: Mapping[str, Any]) -> list[Any]:
    """Return `stop` as a list; empty where it is not set."""
    stop = parameters.get("stop")
    if not stop:
        return []
    return list(stop) if isinstance(stop, list | tuple) else [stop]


def json_schema_of(parameters: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema that `response_format` asks for; None where it asks for none.

    Our form `{"type": "json_schema", "schema": ...}` and OpenAI's, where the schema stands one
    level deeper, are both understood.
    """
    wanted = parameters.get("response_format")
    if not isinstance(wanted, Mapping):
        return None
    inner = wanted.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, Mapping) else wanted.get("schema")
    return schema if isinstance(schema, Mapping) else None


def wants_json(parameters: Mapping[str, Any]) -> bool:
    """Return whether `response_format` asks for JSON of any form."""
    wanted = parameters.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, Mapping) else wanted
    return kind in {"json", "json_object"}


def merged(body: Mapping[str, Any], extra: Any) -> dict[str, Any]:
    """Return a request with `extra_body` merged in; its values win, mappings are merged."""
    result = dict(body)
    for key, value in extra.items() if isinstance(extra, Mapping) else ():
        before = result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = merged(before, value) if both and before is not None else value
    return result

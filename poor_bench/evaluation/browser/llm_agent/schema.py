"""The form of an LLM's reply: a thought and one action; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poor_bench.evaluation.browser.actions.models import ACTION_TYPES, Done

_LONGEST_THOUGHT = 300
"""Characters: small models do not find an end by themselves."""
_MOST_REFS = 200
_LEFT_OUT = frozenset({"title", "default", "maxLength"})
"""Long limits make grammars that llama.cpp refuses; they are checked when the reply is there."""


def reply_schema(
    output_schema: Mapping[str, Any] | None, refs: Sequence[str] = ()
) -> dict[str, Any]:
    """The JSON Schema of a reply.

    Args:
        output_schema: What the data of `done` must keep; None for any.
        refs: The references to choose from; any of their form where empty or too many.

    Returns:
        A schema without references, for servers that turn it into a grammar.
    """
    actions = [_plain_schema(kind, output_schema, refs) for kind in ACTION_TYPES]
    thought = {"type": "string", "maxLength": _LONGEST_THOUGHT}
    return {
        "type": "object",
        "properties": {"thought": thought, "action": {"anyOf": actions}},
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def _plain_schema(
    kind: type[Any], output_schema: Mapping[str, Any] | None, refs: Sequence[str]
) -> dict[str, Any]:
    schema: dict[str, Any] = kind.model_json_schema()
    properties = {
        name: {key: value for key, value in part.items() if key not in _LEFT_OUT}
        for name, part in schema["properties"].items()
    }
    if "ref" in properties and 0 < len(refs) <= _MOST_REFS:
        properties["ref"] = {"type": "string", "enum": list(refs)}
    required = schema["required"]
    if kind is Done and output_schema is not None:
        properties["data"] = dict(output_schema)
        required = [*required, "data"]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }

"""Check data against a JSON Schema; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def schema_fault(data: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str:
    """First fault of `data` and its place; an empty string if it is valid.

    Args:
        data: What an agent returned.
        schema: A valid JSON Schema, or None for none.
    """
    if schema is None:
        return ""
    from jsonschema import Draft202012Validator

    fault = next(Draft202012Validator(schema).iter_errors(data), None)
    return "" if fault is None else f"{fault.json_path}: {fault.message:.200}"

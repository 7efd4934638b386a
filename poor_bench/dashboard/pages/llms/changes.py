"""From the form of a listed LLM to the changes of its entry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from poor_bench.config.document import UnreadableError
from poor_bench.dashboard.field_problems import form_error
from poor_bench.models.llm import LLM


class LLMField(StrEnum):
    """What the form asks for, named after the keys of the entry."""

    LABEL = "label"
    ENDPOINT = "endpoint"
    KEY = "api_key_env"
    SIZE = "size"
    CONCURRENCY = "concurrency"
    RATE = "requests_per_minute"
    PRICE_INPUT = "prices.input"
    PRICE_OUTPUT = "prices.output"
    PRICE_CACHED = "prices.cached_input"
    ENABLED = "enabled"
    SYSTEM_PROMPT = "base_system_prompt"
    PARAMETERS = "parameters"


_PRICES = {
    LLMField.PRICE_INPUT: "input",
    LLMField.PRICE_OUTPUT: "output",
    LLMField.PRICE_CACHED: "cached_input",
}


def form_of(llm: LLM) -> dict[LLMField, Any]:
    """Return what the fields show of an LLM."""
    return {
        LLMField.LABEL: llm.label,
        LLMField.ENDPOINT: llm.endpoint or "",
        LLMField.KEY: llm.api_key_env or "",
        LLMField.SIZE: llm.size,
        LLMField.CONCURRENCY: llm.concurrency,
        LLMField.RATE: llm.requests_per_minute,
        LLMField.PRICE_INPUT: llm.prices.input,
        LLMField.PRICE_OUTPUT: llm.prices.output,
        LLMField.PRICE_CACHED: llm.prices.cached_input,
        LLMField.ENABLED: "yes" if llm.enabled else "no",
        LLMField.SYSTEM_PROMPT: llm.base_system_prompt,
        LLMField.PARAMETERS: json.dumps(dict(llm.parameters), ensure_ascii=False, indent=2),
    }


def form_to_changes(llm: LLM, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of the entry that the form changes; None takes a key away.

    Args:
        llm: The LLM as it stands in the file.
        values: Name of each field to what stands in it; what is left out stays as it is.

    Raises:
        ConfigError: If the parameters cannot be read.
    """
    before = {name: _plain(name, value) for name, value in form_of(llm).items()}
    given = {LLMField(name): value for name, value in values.items()}
    after = before | {name: _plain(name, value) for name, value in given.items()}
    changes: dict[str, Any] = {}
    for name in LLMField:
        if after[name] == before[name]:
            continue
        if name is LLMField.PARAMETERS:
            changes |= _changed_parameters(llm, after[name] or "{}")
        elif name is LLMField.ENABLED:
            changes["enabled"] = False if after[name] == "no" else None
        elif name in _PRICES:
            prices = {key: after[field] for field, key in _PRICES.items()}
            known = {key: price for key, price in prices.items() if price is not None}
            changes["prices"] = known or None
        else:
            changes[name.value] = after[name]
    return changes


def _plain(name: LLMField, value: Any) -> Any:
    """Return what a field holds; None where it is empty."""
    if isinstance(value, str) and name is not LLMField.SYSTEM_PROMPT:
        value = value.strip()
    return None if value == "" else value


def _changed_parameters(llm: LLM, text: str) -> dict[str, Any]:
    from poor_bench.config.json_document import parse_json
    from poor_bench.config.yaml_document import parse_yaml

    problem, values = 'write a mapping such as {"temperature": 0}', None
    try:
        values = (parse_json if text.startswith("{") else parse_yaml)(text).data
    except UnreadableError as error:
        problem = f"{problem}: {error}"
    if not isinstance(values, dict):
        raise form_error({LLMField.PARAMETERS: problem})
    return {} if values == dict(llm.parameters) else {"parameters": values or None}

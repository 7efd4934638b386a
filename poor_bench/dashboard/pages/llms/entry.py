"""Forms as entries of llms.json.

A key goes to a server only with consent: a form never names an environment variable to a server
that nobody agreed to.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import PureWindowsPath
from typing import Any

from poor_bench.config.document import UnreadableError
from poor_bench.config.entries import describe_unknown_parameter
from poor_bench.dashboard.forms import form_error
from poor_bench.dashboard.start_form import REQUIRED
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import PROVIDERS, list_provider_names
from poor_bench.providers.parameters import list_unknown_parameters


def form_to_entry(
    provider: str | None,
    name: str | None,
    endpoint: str | None,
    key_variable: str | None,
    size: float | str | None,
    parameters: str | None,
) -> dict[str, Any]:
    """Read the entry that the fields of the form describe; empty ones are left out.

    Raises:
        ConfigError: If the model is missing or a parameter is not of the form `name=value`.

    Example:
        >>> form_to_entry("ollama", "gemma3:1b", "", None, 1, "temperature=0 think=false")
        {'provider': 'ollama', 'name': 'gemma3:1b', 'size': 1, 'parameters': {'temperature': 0, \
'think': False}}
    """
    needed = {"provider": provider, "name": (name or "").strip()}
    missing = {key: REQUIRED for key, value in needed.items() if not value}
    if missing:
        raise form_error(missing)
    fields: dict[str, Any] = {
        "provider": provider,
        "name": (name or "").strip(),
        "endpoint": (endpoint or "").strip(),
        "api_key_env": (key_variable or "").strip(),
        "size": size or None,
    }
    entry = {field: value for field, value in fields.items() if value}
    given = dict(_parameter(text) for text in (parameters or "").split())
    _require_inside(given)
    _require_known(entry["provider"], given)
    return entry | {"parameters": given}


def _require_inside(parameters: Mapping[str, Any]) -> None:
    """Refuse a model file outside of the workspace: only who edits llms.json may name one."""
    path = str(parameters.get("model_path") or "")
    parts = PureWindowsPath(path)  # splits at both kinds of slash
    if parts.anchor or ".." in parts.parts or path.startswith("~"):
        problem = "model_path must be in the workspace"
        raise form_error({"parameters": problem})


def _require_known(
    provider: str, parameters: Mapping[str, Any], listed: Collection[str] = ()
) -> None:
    """Refuse parameters that mean nothing, but for those that stand in llms.json already."""
    unknown = [name for name in list_unknown_parameters(provider, parameters) if name not in listed]
    if unknown:
        texts = (", ".join(describe_unknown_parameter(provider, name)) for name in unknown)
        raise form_error({LLMField.PARAMETERS: "; ".join(texts)})


def _parameter(text: str) -> tuple[str, Any]:
    import yaml

    from poor_bench.safe_files import load_yaml_text

    name, separator, value = text.partition("=")
    if not separator or not name:
        raise form_error({"parameters": f"write temperature=0, not {text!r}"})
    try:
        return name, load_yaml_text(value)
    except yaml.YAMLError as error:
        raise form_error({"parameters": f"cannot read {name!r}"}) from error


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


def fill_form(llm: LLM) -> dict[LLMField, Any]:
    """Fill the fields for an LLM."""
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
    """Read the keys of the entry that the form changes; None takes a key away.

    Args:
        llm: The LLM as it stands in the file.
        values: Name of each field to what stands in it; what is left out stays as it is.

    Raises:
        ConfigError: If the parameters cannot be read.
    """
    before = {name: _plain(name, value) for name, value in fill_form(llm).items()}
    given = {LLMField(name): value for name, value in values.items()}
    after = before | {name: _plain(name, value) for name, value in given.items()}
    changes: dict[str, Any] = {}
    for name in LLMField:
        if after[name] == before[name]:
            continue
        if name is LLMField.PARAMETERS:
            changes |= _find_changed_parameters(llm, after[name] or "{}")
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
    """Read the value of a field; None where it is empty."""
    if isinstance(value, str) and name is not LLMField.SYSTEM_PROMPT:
        value = value.strip()
    return None if value == "" else value


def _find_changed_parameters(llm: LLM, text: str) -> dict[str, Any]:
    from poor_bench.config.json_document import parse_json
    from poor_bench.config.yaml_document import parse_yaml

    problem, values = 'write {"temperature": 0}', None
    try:
        values = (parse_json if text.startswith("{") else parse_yaml)(text).data
    except UnreadableError as error:
        problem = f"{problem}: {error}"
    if not isinstance(values, dict):
        raise form_error({LLMField.PARAMETERS: problem})
    if values.get("model_path") != llm.parameters.get("model_path"):
        _require_inside(values)
    _require_known(llm.provider, values, llm.parameters)
    return {} if values == dict(llm.parameters) else {"parameters": values or None}


_FURTHER_PROVIDERS = (
    "azure_openai", "cerebras", "cohere", "fireworks", "gemini", "google", "hf", "huggingface",
    "nvidia", "perplexity", "sambanova", "together", "xai",
)  # fmt: skip
_KNOWN = frozenset(
    f"{name}_{ending}".upper()
    for name in (*list_provider_names(), *_FURTHER_PROVIDERS)
    for ending in ("api_key", "token")
)


def ask_for_consent(
    provider: str, endpoint: str, variable: str, listed: Iterable[LLM]
) -> str | None:
    """Name what the user has to agree to before an entry is written; None for nothing.

    A key goes to a server only if llms.json pairs the two already. Any other pair is asked about,
    and a variable that neither llms.json nor a known provider names is refused: a form must not
    reach every secret of the environment.

    Args:
        provider: Provider of the entry.
        endpoint: Its server; the provider's own where empty.
        variable: Name of the environment variable with its key; empty for none.
        listed: The entries of llms.json as they are.

    Returns:
        A sentence with variable and server, such as `Send the value of A to http://b`.

    Raises:
        ConfigError: If the variable may not be named here.
    """
    if not variable:
        return None
    pairs = {(llm.api_key_env, _server(llm.provider, llm.endpoint or "")) for llm in listed}
    server = _server(provider, endpoint)
    if (variable, server) in pairs:
        return None
    if variable not in _KNOWN and variable not in {named for named, _ in pairs}:
        hint = "Use OPENAI_API_KEY"
        raise form_error({"api_key_env": f"{variable} is not a known key. {hint}."})
    return f"Send the value of {variable} to {server}"


def is_given(sentence: str | None, ticked: Collection[Any]) -> bool:
    """True if nothing has to be agreed to, or the boxes that are ticked hold it."""
    return sentence is None or any(sentence in (box or ()) for box in ticked)


def _server(provider: str, endpoint: str) -> str:
    entry = PROVIDERS.get(provider.lower())
    return endpoint.rstrip("/") or (entry.endpoint if entry else None) or provider

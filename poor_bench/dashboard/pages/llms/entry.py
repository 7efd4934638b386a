"""From the form to an entry of llms.json."""

from __future__ import annotations

from typing import Any

from poor_bench.dashboard.field_problems import form_error


def form_to_entry(
    provider: str | None,
    name: str | None,
    endpoint: str | None,
    key_variable: str | None,
    size: float | str | None,
    parameters: str | None,
) -> dict[str, Any]:
    """Return the entry that the fields of the form describe; empty ones are left out.

    Raises:
        ConfigError: If the model is missing or a parameter is not of the form `name=value`.

    Example:
        >>> form_to_entry("ollama", "gemma3:1b", "", None, 1, "temperature=0 think=false")
        {'provider': 'ollama', 'name': 'gemma3:1b', 'size': 1, 'parameters': {'temperature': 0, \
'think': False}}
    """
    needed = {"provider": provider, "name": (name or "").strip()}
    missing = {key: f"a model needs a {key}" for key, value in needed.items() if not value}
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
    return entry | {"parameters": dict(_parameter(text) for text in (parameters or "").split())}


def _parameter(text: str) -> tuple[str, Any]:
    import yaml

    from poor_bench.config.yaml_document import load_value

    name, separator, value = text.partition("=")
    if not separator or not name:
        raise form_error({"parameters": f"{text!r} is not of the form temperature=0"})
    try:
        return name, load_value(value)
    except yaml.YAMLError as error:
        raise form_error({"parameters": f"the value of {name!r} cannot be read"}) from error

"""Read the values of `--param`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.key_values import key_values

if TYPE_CHECKING:
    from poor_bench.models.llm import LLM
    from poor_bench.tuning.params.axes import Axis


def axes_in(texts: Iterable[str], llm: LLM) -> list[Axis]:
    """Parse options such as `temperature=0,0.4`.

    Args:
        texts: NAME=VALUE,VALUE; `@FILE` is the text of a file, `none` removes the parameter.
        llm: The model.

    Raises:
        click.UsageError: If an option is malformed, or has no effect with the model's provider.
    """
    from poor_bench.tuning.params.axes import axis_of

    values: dict[str, list[Any]] = {}
    for text in texts:
        [(name, written)] = key_values([text], "--param").items()
        values.setdefault(name, []).extend(_values(name, written))
    if not values:
        raise click.UsageError("give at least one --param NAME=VALUE,VALUE")
    _require_effect(values, llm)
    try:
        return [axis_of(name, own) for name, own in values.items()]
    except ValueError as error:
        raise click.UsageError(f"--param {error}") from error


def _values(name: str, written: str) -> list[Any]:
    if written.startswith(("{", "[")):
        value = _plain(name, written)
        return value if isinstance(value, list) else [value]
    return [_value(name, part.strip()) for part in written.split(",")]


def _value(name: str, text: str) -> Any:
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise click.UsageError(f"--param {name}: {text[1:]}: {error.strerror}") from error
    return None if text == "none" else _plain(name, text)


def _plain(name: str, text: str) -> Any:
    from poor_bench.config.document import UnreadableError
    from poor_bench.config.yaml_document import parse_yaml

    try:
        return parse_yaml(text).data if text else ""
    except UnreadableError as error:
        raise click.UsageError(f"--param {name}: {error}") from error


def _require_effect(names: Iterable[str], llm: LLM) -> None:
    from poor_bench.providers.parameters import ignored_parameters, unknown_parameters
    from poor_bench.tuning.params.axes import SYSTEM_PROMPT

    parameters = {name: None for name in names if name != SYSTEM_PROMPT}
    unknown = unknown_parameters(llm.provider, parameters)
    if unknown:
        raise click.UsageError(f"--param {unknown[0]}: unknown parameter")
    ignored = ignored_parameters(llm.provider, parameters)
    if ignored:
        raise click.UsageError(f"--param {ignored[0]}: has no effect with {llm.provider}")

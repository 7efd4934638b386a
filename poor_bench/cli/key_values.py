"""Options of the form KEY=VALUE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click


def key_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return what options such as `--column text=question` say.

    Raises:
        click.UsageError: If one of them has no `=`, or no key.
    """
    pairs = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{option} {text!r}: give KEY=VALUE")
        pairs[key] = value
    return pairs


def plain_key_values(texts: Iterable[str], option: str) -> dict[str, Any]:
    """Return what such options say, with numbers, true, false, lists and mappings as such.

    Raises:
        click.UsageError: If one of them has no `=`, no key, or a value that is no plain data.
    """
    from poor_bench.config.document import UnreadableError
    from poor_bench.config.yaml_document import parse_yaml

    try:
        return {
            key: parse_yaml(value).data if value.strip() else value
            for key, value in key_values(texts, option).items()
        }
    except UnreadableError as error:
        raise click.UsageError(f"{option}: {error}") from error

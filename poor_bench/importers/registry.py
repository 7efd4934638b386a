"""The formats that are known by name, and how one is told from another."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.importers.code_datasets import HUMANEVAL, MBPP
from poor_bench.importers.datasets import GSM8K, MULTIPLE_CHOICE
from poor_bench.importers.imported import Importer, Row

IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {importer.name: importer for importer in (HUMANEVAL, MBPP, GSM8K, MULTIPLE_CHOICE)}
)


def importer_named(name: str) -> Importer:
    """Return the importer of a format.

    Raises:
        ConfigError: If there is none of that name.
    """
    if name not in IMPORTERS:
        raise ConfigError(f"unknown format `{name}`", hint=name_hint(name, IMPORTERS))
    return IMPORTERS[name]


def recognise(row: Row) -> Importer:
    """Return the importer for a file with such rows.

    Raises:
        ConfigError: If no format has such rows.
    """
    for importer in IMPORTERS.values():
        if importer.recognises(row):
            return importer
    columns = ", ".join(f"`{column}`" for column in list(row)[:12])
    raise ConfigError(
        f"no known format has the columns {columns}",
        hint="map the columns: --column text=COLUMN --evaluator NAME",
    )

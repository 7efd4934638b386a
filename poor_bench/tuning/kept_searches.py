"""Stored searches of a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.tuning.tuning_file import HEADER, TuningLine, read_lines, tuning_folder

LAST = "last"
"""Refers to the newest search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSearch:
    """One stored search."""

    path: Path
    header: Mapping[str, Any]
    lines: tuple[TuningLine, ...]

    @property
    def run_id(self) -> str:
        """Names the search."""
        return self.path.stem

    @property
    def kind(self) -> str:
        """`prompt` or `params`."""
        return str(self.header.get("kind", ""))

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Records of one kind, oldest first."""
        return [line.content for line in self.lines if line.kind == kind]

    def last(self, kind: str) -> dict[str, Any] | None:
        """Newest record of one kind, or None."""
        found = self.of_kind(kind)
        return found[-1] if found else None


def kept_searches(data_dir: Path) -> list[KeptSearch]:
    """List the searches of a workspace, oldest first.

    Raises:
        StoreError: If one cannot be read.
    """
    return [read_search(path) for path in sorted(tuning_folder(data_dir).glob("*.jsonl"))]


def read_search(path: Path) -> KeptSearch:
    """Read one search.

    Raises:
        StoreError: If its file cannot be read.
    """
    lines = list(read_lines(path))
    header = lines[0].content if lines and lines[0].kind == HEADER else {}
    return KeptSearch(path=path, header=header, lines=tuple(lines[1:] if header else lines))


def find_search(data_dir: Path, reference: str, kind: str = "") -> KeptSearch:
    """Find a search by reference.

    Args:
        data_dir: Folder of the workspace.
        reference: `last`, or the id of a search or its beginning.
        kind: What kind it must be of; empty for any.

    Raises:
        ConfigError: If there is no such search, or several begin like that.
        StoreError: If it cannot be read.
    """
    searches = [item for item in kept_searches(data_dir) if kind in {"", item.kind}]
    if reference == LAST:
        found = searches[-1:]
    else:
        found = [item for item in searches if item.run_id.startswith(reference)]
    if len(found) == 1:
        return found[0]
    what = f"search {kind}".strip()
    if found:
        raise ConfigError(f"{reference!r} matches several searches", hint=_names(found))
    hint = _names(searches) or f"none yet: {next_command('tune prompt CLASS --llm ID')}"
    raise ConfigError(f"the {what} {reference!r} does not exist", hint=hint)


def _names(searches: Sequence[KeptSearch]) -> str:
    return ", ".join(search.run_id for search in reversed(searches[-5:]))

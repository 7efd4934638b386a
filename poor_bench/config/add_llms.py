"""Add LLMs to llms.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from poor_bench.config.edit_json import edit_entries
from poor_bench.config.files import decode_llms_file, llms_file
from poor_bench.models.llm import base_llm_id, think_suffix


def add_llms(data_dir: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Add entries to the end of llms.json.

    A twin of a model that is listed already gets an explicit `id`, so that the id of the listed
    one, and with it the way to its results, stays what it is.

    Args:
        data_dir: Folder of the workspace.
        entries: As they shall stand in the file.

    Raises:
        ConfigError: If the file, as it was or as it would be, has an error, or cannot be
            written; it is untouched then.
    """

    def change(listed: list[Any]) -> None:
        for entry in entries:
            listed.append(_told_apart(entry, listed))

    edit_entries(llms_file(data_dir), "llms", change, decode_llms_file)


def _told_apart(entry: Mapping[str, Any], listed: Sequence[Any]) -> dict[str, Any]:
    """Return `entry`, with an explicit id if one of the listed has the same one by default."""
    if entry.get("id") or not any(_are_namesakes(entry, other) for other in listed):
        return dict(entry)
    base = base_llm_id(str(entry.get("provider")), str(entry.get("name")))
    suffix = think_suffix(entry.get("parameters", {}).get("think"))
    return {**entry, "id": base + suffix} if suffix else dict(entry)


def _are_namesakes(entry: Mapping[str, Any], other: Any) -> bool:
    return (
        isinstance(other, dict)
        and not other.get("id")
        and all(entry.get(key) == other.get(key) for key in ("provider", "name"))
    )

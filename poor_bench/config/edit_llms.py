"""Delete, copy and move entries of llms.json; ids, and with them results, stay what they are."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from poor_bench.config.edit_json import are_namesakes, edit_entries
from poor_bench.config.load import decode_llms_file, llms_file
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM


class LLMAction(StrEnum):
    """What is done with an entry."""

    DELETE = "delete"
    DUPLICATE = "duplicate"
    """Add a disabled copy behind it, with an id of its own."""
    MOVE_UP = "up"
    MOVE_DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMEdit:
    """A change of one entry's place or existence."""

    llm_id: str
    action: LLMAction


def edit_llms(data_dir: Path, llms: Sequence[LLM], edit: LLMEdit) -> None:
    """Make the change; comments and all other entries stay as they are written.

    Args:
        data_dir: Folder of the workspace.
        llms: The LLMs in the order of the file, as it was read.
        edit: What to change.

    Raises:
        ConfigError: If the file no longer has the LLM, or, as it was or as it would be, has an
            error, or cannot be written; it is untouched then.
    """

    def change(entries: list[Any]) -> None:
        place = _find_place(entries, llms, edit.llm_id)
        match edit.action:
            case LLMAction.DELETE:
                _delete(entries, llms, place)
            case LLMAction.DUPLICATE:
                entries.insert(place + 1, _copy(entries[place], llms, place))
            case LLMAction.MOVE_UP:
                _swap(entries, place, place - 1)
            case LLMAction.MOVE_DOWN:
                _swap(entries, place, place + 1)

    edit_entries(llms_file(data_dir), "llms", change, decode_llms_file)


def _find_place(entries: Sequence[Any], llms: Sequence[LLM], llm_id: str) -> int:
    named = [(llm.provider, llm.name) for llm in llms]
    if named != [(entry.get("provider"), entry.get("name")) for entry in entries]:
        raise ConfigError("llms.json was changed meanwhile", hint="Look again.")
    place = next((number for number, llm in enumerate(llms) if llm.id == llm_id), None)
    if place is None:
        raise ConfigError(f"llms.json no longer has the model {llm_id!r}", hint="Look again.")
    return place


def _delete(entries: list[Any], llms: Sequence[LLM], place: int) -> None:
    """Delete an entry; a twin that it told apart keeps its id by naming it."""
    for entry, llm in zip(entries, llms, strict=True):
        if entry is not entries[place] and are_namesakes(entries[place], entry):
            entry["id"] = llm.id
    del entries[place]


def _copy(entry: dict[str, Any], llms: Sequence[LLM], place: int) -> dict[str, Any]:
    known = {llm.id for llm in llms}
    base = f"{llms[place].id}:copy"
    llm_id = next(
        name for number in range(1, len(known) + 2) if (name := f"{base}{number}") not in known
    )
    copy = deepcopy(entry) | {"id": llm_id, "enabled": False}
    if entry.get("label"):
        copy["label"] = f"{entry['label']} (copy)"
    return copy


def _swap(entries: list[Any], place: int, other: int) -> None:
    if 0 <= other < len(entries):
        entries[place], entries[other] = entries[other], entries[place]

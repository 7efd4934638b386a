"""Change single entries of tests.json and llms.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from poor_bench.config.edit_json import edit_entries
from poor_bench.config.files import (
    TESTS_FILE,
    decode_llms_file,
    decode_tests_file,
    llms_file,
)
from poor_bench.config.unknown_keys import is_comment
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.models.test import TestClass


def change_test(
    data_dir: Path,
    test_id: str,
    changes: Mapping[str, Any],
    test_classes: Mapping[str, TestClass],
) -> None:
    """Write new values of some keys of one test; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        test_id: Which test.
        changes: Key to value; None takes the key away.
        test_classes: Class id to class, to check the changed test against.

    Raises:
        ConfigError: If there is no such test, or the file, as it was or as it would be, has an
            error, or cannot be written; it is untouched then.
    """
    edit_entries(
        data_dir / TESTS_FILE,
        "tests",
        lambda entries: _change(entries, lambda entry: entry["test_id"] == test_id, changes),
        lambda document, report: decode_tests_file(document, test_classes, report),
    )


def change_llm(
    data_dir: Path, llms: tuple[LLM, ...], llm_id: str, changes: Mapping[str, Any]
) -> None:
    """Write new values of some keys of one LLM; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        llms: The LLMs in the order of the file, as it was read.
        llm_id: Which LLM.
        changes: Key to value; None takes the key away.

    Raises:
        ConfigError: If there is no such LLM, or the file, as it was or as it would be, has an
            error, or cannot be written; it is untouched then.
    """
    [place] = [number for number, llm in enumerate(llms) if llm.id == llm_id] or [-1]

    def change(entries: list[Any]) -> None:
        wanted = (llms[place].provider, llms[place].name) if place >= 0 else None
        found = entries[place] if 0 <= place < len(entries) else {}
        if wanted != (found.get("provider"), found.get("name")):
            raise ConfigError(f"llms.json no longer has the model {llm_id!r}", hint="Look again.")
        _put(found, changes)

    edit_entries(llms_file(data_dir), "llms", change, decode_llms_file)


def _change(
    entries: list[Any], is_wanted: Callable[[Any], bool], changes: Mapping[str, Any]
) -> None:
    found = [entry for entry in entries if is_wanted(entry)]
    if not found:
        raise ConfigError("the file no longer has this test", hint="Look again.")
    _put(found[0], changes)


def _put(entry: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = _with_comments(value, entry.get(key))


def _with_comments(value: Any, before: Any) -> Any:
    """Return a new value with the comments (keys with `_`) that stood in the old one."""
    if not (isinstance(value, dict) and isinstance(before, dict)):
        return value
    return {key: old for key, old in before.items() if is_comment(key)} | value

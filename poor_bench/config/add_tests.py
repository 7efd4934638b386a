"""Add tests, and the class they belong to, to a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.config.document import read_text, write_atomically
from poor_bench.config.edit_json import edit_entries
from poor_bench.config.edit_yaml import append_entry
from poor_bench.config.load import (
    TEST_CLASSES_FILE,
    TESTS_FILE,
    decode_test_classes_file,
    decode_tests_file,
    load_test_classes,
    raise_errors,
    require_workspace_folder,
)
from poor_bench.errors import ConfigError
from poor_bench.models.test import TestClass


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTests:
    """What came of adding tests."""

    added: tuple[str, ...]
    """Ids of the tests that are new."""
    known: tuple[str, ...]
    """Ids that were there already; these tests stay as they are."""
    class_is_new: bool


def add_tests(
    data_dir: Path, class_entry: Mapping[str, Any], tests: Iterable[Mapping[str, Any]]
) -> AddedTests:
    """Add entries to tests.json, and their class to test_classes.yaml where it is not there yet.

    Args:
        data_dir: Folder of the workspace.
        class_entry: The class as it shall stand in its file; a class of that id that is there
            already stays as it is.
        tests: The tests as they shall stand in their file, all of that class.

    Raises:
        ConfigError: If a file, as it was or as it would be, has an error, or cannot be written;
            the workspace is untouched then.
    """
    require_workspace_folder(data_dir)
    path = data_dir / TEST_CLASSES_FILE
    before = load_test_classes(data_dir)
    raise_errors(before.report.problems)
    class_is_new = class_entry["id"] not in before.by_id
    text_before = read_text(path)
    if class_is_new:
        append_entry(path, "test_classes", class_entry, decode_test_classes_file)
    try:
        added, known = _append_tests(data_dir, tests, load_test_classes(data_dir).by_id)
    except ConfigError:
        if class_is_new:
            write_atomically(path, text_before)
        raise
    return AddedTests(added=added, known=known, class_is_new=class_is_new)


def _append_tests(
    data_dir: Path, tests: Iterable[Mapping[str, Any]], classes: Mapping[str, TestClass]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    added: list[str] = []
    known: list[str] = []

    def change(entries: list[Any]) -> None:
        listed = {entry["test_id"] for entry in entries}
        for test in tests:
            test_id = test["test_id"]
            (known if test_id in listed else added).append(test_id)
            if test_id not in listed:
                entries.append(dict(test))

    edit_entries(
        data_dir / TESTS_FILE,
        "tests",
        change,
        lambda document, report: decode_tests_file(document, classes, report),
    )
    return tuple(added), tuple(known)

"""Change many tests of tests.json in one atomic step, which can be undone exactly."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.config.document import lock_for_writing, read_text, write_atomically
from poor_bench.config.edit_json import edit_entries
from poor_bench.config.load import TESTS_FILE, decode_tests_file
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.test import TestClass


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEdit:
    """The same change of some tests; what is None or empty stays as it is."""

    test_ids: frozenset[str]
    enabled: bool | None = None
    added_tag: str = ""
    removed_tag: str = ""
    class_id: str = ""
    """Class to move the tests to."""
    level: int | None = None
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after a change."""

    path: Path
    before: str
    after: str


def edit_tests(data_dir: Path, edit: TestEdit, test_classes: Mapping[str, TestClass]) -> FileChange:
    """Change some tests; all else in the file stays as it is.

    Args:
        data_dir: Folder of the workspace.
        edit: What to change.
        test_classes: Class id to class, to check the changed tests against.

    Raises:
        ConfigError: If a test does not exist any more, or the file, as it was or as it would be,
            has an error, or cannot be written; it is untouched then.
    """
    path = data_dir / TESTS_FILE

    def change(entries: list[Any]) -> None:
        require_tests(entries, edit.test_ids)
        if edit.is_deleted:
            entries[:] = [each for each in entries if each["test_id"] not in edit.test_ids]
        for entry in entries:
            if entry["test_id"] in edit.test_ids:
                _change_entry(entry, edit)

    def check(document: Any, report: Any) -> object:
        return decode_tests_file(document, test_classes, report)

    before, after = edit_entries(path, "tests", change, check)
    return FileChange(path, before, after)


def require_tests(entries: Collection[Any], test_ids: Collection[str]) -> None:
    """Refuse to change tests that are not in the file any more.

    Args:
        entries: Those of tests.json, as they are now.
        test_ids: The tests to change.

    Raises:
        ConfigError: If one is missing.
    """
    missing = set(test_ids) - {entry["test_id"] for entry in entries}
    if missing:
        some = ", ".join(f"`{name}`" for name in sorted(missing)[:3])
        raise ConfigError(f"tests.json no longer has {some}", hint="Look again.")


def _change_entry(entry: dict[str, Any], edit: TestEdit) -> None:
    if edit.enabled is not None:
        entry.pop("enabled", None)
        if not edit.enabled:
            entry["enabled"] = False
    if edit.class_id:
        entry["class_id"] = edit.class_id
    if edit.level is not None:
        entry["level"] = edit.level
    if edit.added_tag or edit.removed_tag:
        _change_tags(entry, edit)


def _change_tags(entry: dict[str, Any], edit: TestEdit) -> None:
    tags = [tag for tag in entry.get("tags") or [] if tag != edit.removed_tag]
    if edit.added_tag and edit.added_tag not in tags:
        tags.append(edit.added_tag)
    if tags:
        entry["tags"] = tags
    else:
        entry.pop("tags", None)


def undo_change(change: FileChange) -> None:
    """Write a file as it was before a change.

    Raises:
        ConfigError: If the file was changed since, or cannot be written; it is untouched then.
    """
    with lock_for_writing(change.path):
        if read_text(change.path) != change.after:
            raise ConfigError(
                f"{change.path.name} was changed since. Undo would overwrite that change.",
                hint="Edit the tests again, or restore the file from version control.",
            )
        write_atomically(change.path, change.before)


def describe_edit(edit: TestEdit) -> str:
    """Describe an edit in the past tense, such as "Disabled 3 tests".

    Example:
        >>> describe_edit(TestEdit(test_ids=frozenset("ab"), added_tag="slow"))
        'Added tag `slow` to 2 tests'
    """
    tests = write_count(len(edit.test_ids), "test")
    if edit.is_deleted:
        return f"Deleted {tests}"
    if edit.enabled is not None:
        return f"{'Enabled' if edit.enabled else 'Disabled'} {tests}"
    if edit.class_id:
        return f"Moved {tests} to class `{edit.class_id}`"
    if edit.level is not None:
        return f"Set level {edit.level} for {tests}"
    if edit.added_tag:
        return f"Added tag `{edit.added_tag}` to {tests}"
    return f"Removed tag `{edit.removed_tag}` from {tests}"

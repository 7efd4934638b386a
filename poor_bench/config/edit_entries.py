"""Change entries of tests.json and llms.json in one atomic step; edits of tests can be undone.

Tests are edited, added and reported as wrong; models are deleted, copied and moved. Ids, and with
them results, stay what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from poor_bench.config.document import lock_for_writing, read_text, write_atomically
from poor_bench.config.edit_json import edit_entries
from poor_bench.config.edit_yaml import append_entry
from poor_bench.config.entry_validation import is_comment
from poor_bench.config.load import (
    TEST_CLASSES_FILE,
    TESTS_FILE,
    Workspace,
    decode_llms_file,
    decode_test_classes_file,
    decode_tests_file,
    find_llms_file,
    load_test_classes,
    raise_errors,
    require_workspace_folder,
)
from poor_bench.config.names import write_names_hint
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count
from poor_bench.models.llm import LLM, build_base_llm_id, build_think_suffix
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
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Value by key of the entries; None takes the key away."""
    is_deleted: bool = False
    takes_tag: bool = False
    """Take the added tag from all other tests."""


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
            elif edit.takes_tag:
                _change_tags(entry, "", edit.added_tag)

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
    _put(entry, edit.changes)
    if edit.enabled is not None:
        entry.pop("enabled", None)
        if not edit.enabled:
            entry["enabled"] = False
    if edit.class_id:
        entry["class_id"] = edit.class_id
    if edit.level is not None:
        entry["level"] = edit.level
    if edit.added_tag or edit.removed_tag:
        _change_tags(entry, edit.added_tag, edit.removed_tag)


def _change_tags(entry: dict[str, Any], added: str, removed: str) -> None:
    tags = [tag for tag in entry.get("tags") or [] if tag != removed]
    if added and added not in tags:
        tags.append(added)
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


def report_test(workspace: Workspace, test_id: str, reason: str) -> None:
    """Note why a test may be wrong, or remove the note where no reason is given.

    Raises:
        ConfigError: If the test does not exist, or the file cannot be read or written; it is
            untouched then.
    """
    if test_id not in workspace.tests_by_id:
        raise ConfigError(
            f"unknown test {test_id!r}", hint=write_names_hint(test_id, workspace.tests_by_id)
        )
    edit = TestEdit(test_ids=frozenset([test_id]), changes={"reported": reason.strip() or None})
    edit_tests(workspace.data_dir, edit, workspace.test_classes)


class LLMAction(StrEnum):
    """What is done with an entry."""

    DELETE = "delete"
    DUPLICATE = "duplicate"
    """Add a disabled copy behind it, with an id of its own."""
    MOVE_UP = "up"
    MOVE_DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMEdit:
    """A change of one entry: of its place or existence, or of its values."""

    llm_id: str
    action: LLMAction | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Value by key of the entry; None takes the key away."""


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
        _put(entries[place], edit.changes)
        match edit.action:
            case LLMAction.DELETE:
                _delete(entries, llms, place)
            case LLMAction.DUPLICATE:
                entries.insert(place + 1, _copy(entries[place], llms, place))
            case LLMAction.MOVE_UP:
                _swap(entries, place, place - 1)
            case LLMAction.MOVE_DOWN:
                _swap(entries, place, place + 1)

    edit_entries(find_llms_file(data_dir), "llms", change, decode_llms_file)


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


def _put(entry: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = _keep_comments(value, entry.get(key))


def _keep_comments(value: Any, before: Any) -> Any:
    """Complete a new value by the comments (keys with `_`) that stood in the old one."""
    if not (isinstance(value, dict) and isinstance(before, dict)):
        return value
    return {key: old for key, old in before.items() if is_comment(key)} | value


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
            listed.append(_tell_apart(entry, listed))

    edit_entries(find_llms_file(data_dir), "llms", change, decode_llms_file)


def _tell_apart(entry: Mapping[str, Any], listed: Sequence[Any]) -> dict[str, Any]:
    """Give `entry` an explicit id if one of the listed has the same one by default."""
    if entry.get("id") or not any(are_namesakes(entry, other) for other in listed):
        return dict(entry)
    base = build_base_llm_id(str(entry.get("provider")), str(entry.get("name")))
    suffix = build_think_suffix(entry.get("parameters", {}).get("think"))
    return {**entry, "id": base + suffix} if suffix else dict(entry)


def are_namesakes(entry: Mapping[str, Any], other: Any) -> bool:
    """True if two entries have the same id by default, and the other names none of its own."""
    return (
        isinstance(other, dict)
        and not other.get("id")
        and all(entry.get(key) == other.get(key) for key in ("provider", "name"))
    )

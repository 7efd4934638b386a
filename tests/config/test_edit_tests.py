from __future__ import annotations

import json
from typing import Any

import pytest

from poor_bench.config.edit_entries import TestEdit, describe_edit, report_test, undo_change
from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection, select
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

FIRST_TWO = frozenset({"sum_001", "sum_002"})


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> WorkspaceFolder:
    """Tests sum_001 to sum_004, in a file whose third entry is written by hand."""
    workspace_files.add_tests(4)
    workspace_files.add_llm("a", "4")
    data_dir = workspace_files.write()
    entries = [json.dumps(test) for test in workspace_files.tests]
    entries[2] = entries[2].replace(": ", " :  ")
    lines = ",\n    ".join(entries)
    (data_dir / "tests.json").write_text(f'{{"tests": [\n    {lines}\n]}}\n')
    return WorkspaceFolder(data_dir)


def stored(folder: WorkspaceFolder) -> str:
    return (folder.data_dir / "tests.json").read_text()


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"enabled": False}, "enabled", False),
        ({"added_tag": "slow"}, "tags", ("slow",)),
        ({"level": 7}, "level", 7),
    ],
)
def test_only_the_chosen_tests_change_and_undo_restores_every_byte(
    folder: WorkspaceFolder, changes: dict[str, Any], key: str, value: object
) -> None:
    before = stored(folder)
    change = folder.edit_tests(TestEdit(test_ids=FIRST_TWO, **changes))
    found = [getattr(test, key) == value for test in folder.load_tests()]
    assert found == [True, True, False, False]
    assert before.splitlines()[3:] == stored(folder).splitlines()[3:]
    undo_change(change)
    assert stored(folder) == before


def test_deleting_keeps_the_other_entries_as_they_are_written(folder: WorkspaceFolder) -> None:
    before = stored(folder)
    change = folder.edit_tests(TestEdit(test_ids=FIRST_TWO | {"sum_004"}, is_deleted=True))
    assert [test.test_id for test in folder.load_tests()] == ["sum_003"]
    assert before.splitlines()[3].rstrip(",") in stored(folder)
    undo_change(change)
    assert stored(folder) == before


def test_undo_does_not_overwrite_what_others_wrote_since(folder: WorkspaceFolder) -> None:
    change = folder.edit_tests(TestEdit(test_ids=FIRST_TWO, enabled=False))
    written = stored(folder).replace("3 + 3", "3 + 4")
    (folder.data_dir / "tests.json").write_text(written)
    with pytest.raises(ConfigError, match="changed since"):
        undo_change(change)
    assert stored(folder) == written


def test_an_edit_that_would_break_the_workspace_changes_nothing(folder: WorkspaceFolder) -> None:
    before = stored(folder)
    for edit in (
        TestEdit(test_ids=FIRST_TWO, class_id="unknown"),
        TestEdit(test_ids=FIRST_TWO, level=0),
        TestEdit(test_ids=frozenset({"gone"}), enabled=False),
    ):
        with pytest.raises(ConfigError):
            folder.edit_tests(edit)
        assert stored(folder) == before


def test_disabled_tests_are_skipped_unless_they_are_named(folder: WorkspaceFolder) -> None:
    folder.edit_tests(TestEdit(test_ids=FIRST_TWO, enabled=False))
    chosen = select(folder.workspace, Selection())
    assert [test.test_id for test in chosen.tests] == ["sum_003", "sum_004"]
    assert chosen.n_disabled_tests == 2
    named = select(folder.workspace, Selection(tests=("sum_001", "sum_00[2-3]")))
    assert [test.test_id for test in named.tests] == ["sum_001", "sum_003"]
    with pytest.raises(ConfigError, match="disabled"):
        select(folder.workspace, Selection(tests=("*_002",)))


def test_edits_are_described(folder: WorkspaceFolder) -> None:
    told = [
        describe_edit(TestEdit(test_ids=FIRST_TWO, **changes))
        for changes in ({"is_deleted": True}, {"class_id": "c"}, {"removed_tag": "t"})
    ]
    assert told == [
        "Deleted 2 tests",
        "Moved 2 tests to class `c`",
        "Removed tag `t` from 2 tests",
    ]


def test_a_test_that_was_deleted_meanwhile_cannot_be_reported(folder: WorkspaceFolder) -> None:
    shown = folder.workspace
    folder.edit_tests(TestEdit(test_ids=frozenset({"sum_004"}), is_deleted=True))
    with pytest.raises(ConfigError, match="sum_004"):
        report_test(shown, "sum_004", "wrong key")
    report_test(shown, "sum_001", "wrong key")
    entries = json.loads(stored(folder))["tests"]
    assert [each.get("reported") for each in entries] == ["wrong key", None, None]

"""Note in tests.json that a test may be wrong."""

from __future__ import annotations

from typing import Any

from poor_bench.config.edit_json import edit_entries
from poor_bench.config.edit_tests import require_tests
from poor_bench.config.load import TESTS_FILE, Workspace, decode_tests_file
from poor_bench.config.nearest_name import names_hint
from poor_bench.errors import ConfigError


def report_test(workspace: Workspace, test_id: str, reason: str) -> None:
    """Note why a test may be wrong, or remove the note where no reason is given.

    Raises:
        ConfigError: If the test does not exist, or the file cannot be read or written; it is
            untouched then.
    """
    if test_id not in workspace.tests_by_id:
        raise ConfigError(
            f"unknown test {test_id!r}", hint=names_hint(test_id, workspace.tests_by_id)
        )

    def change(entries: list[Any]) -> None:
        require_tests(entries, [test_id])
        entry = next(each for each in entries if each["test_id"] == test_id)
        entry.pop("reported", None)
        if reason.strip():
            entry["reported"] = reason.strip()

    edit_entries(
        workspace.data_dir / TESTS_FILE,
        "tests",
        change,
        lambda document, report: decode_tests_file(document, workspace.test_classes, report),
    )

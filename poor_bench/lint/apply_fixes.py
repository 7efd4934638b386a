"""Write fixes into tests.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from poor_bench.config.edit_json import edit_entries
from poor_bench.config.files import TESTS_FILE, decode_tests_file
from poor_bench.config.report import Place
from poor_bench.config.workspace import Workspace
from poor_bench.lint.finding import Fix


def apply_fixes(workspace: Workspace, fixes: Iterable[Fix]) -> int:
    """Change tests.json as `fixes` say, in one atomic step; the rest of it stays as it is.

    Returns:
        How many tests were changed.

    Raises:
        ConfigError: If the file cannot be read or written, or would not be valid afterwards; it
            is untouched then.
    """
    of_test: dict[str, list[Fix]] = {}
    for fix in fixes:
        of_test.setdefault(fix.test_id, []).append(fix)

    def change(entries: list[Any]) -> None:
        for entry in entries:
            for fix in of_test.get(entry["test_id"], ()):
                _put(entry, fix.place, fix.value)

    if of_test:
        edit_entries(
            workspace.data_dir / TESTS_FILE,
            "tests",
            change,
            lambda document, report: decode_tests_file(document, workspace.test_classes, report),
        )
    return len(of_test)


def _put(entry: dict[str, Any], place: Place, value: Any) -> None:
    *parents, last = place
    inner: Any = entry
    for key in parents:
        inner = inner[key]
    inner[last] = value

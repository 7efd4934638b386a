"""Edits of many tests from the dashboard; the last one can be undone while the server runs."""

from __future__ import annotations

import threading

from poor_bench.config.edit_entries import FileChange, TestEdit, describe_edit, undo_change
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import ConfigError


class TestEdits:
    """Edits tests.json and keeps the file as it was before the last edit; for all browsers."""

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._last: tuple[str, FileChange] | None = None

    @property
    def last(self) -> str:
        """What the last edit did, such as "Disabled 3 tests"; empty if none can be undone."""
        last = self._last
        return last[0] if last else ""

    def apply(self, edit: TestEdit) -> str:
        """Change some tests in the same way.

        Returns:
            What was done, in the past tense.

        Raises:
            ConfigError: If the workspace, as it was or as it would be, is not valid, or cannot be
                written; it is untouched then.
        """
        if not edit.test_ids:
            raise ConfigError("select tests")
        with self._lock:
            change = self._files.config().edit_tests(edit)
            self._last = describe_edit(edit), change
            self._files.forget()
            return self._last[0]

    def undo(self) -> str:
        """Undo the last edit.

        Returns:
            What was done.

        Raises:
            ConfigError: If nothing can be undone, or tests.json was changed since.
        """
        with self._lock:
            if self._last is None:
                raise ConfigError(
                    "nothing to undo",
                )
            text, change = self._last
            undo_change(change)
            self._last = None
            self._files.forget()
            return f"Undone: {text}"

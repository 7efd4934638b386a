"""The workspace as it stands in its files now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.load import TEST_CLASSES_FILE, TESTS_FILE, Workspace, llms_file
from poor_bench.errors import ConfigError
from poor_bench.plugins import project_evaluators_folder
from poor_bench.results.store import ResultStore

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder

Fingerprint = tuple[tuple[str, int, int], ...]


class WorkspaceWatch:
    """Opens the workspace anew when one of its files changed.

    What was handed out stays as it was, so a run is not disturbed by an edit.
    """

    def __init__(self, open_config: Callable[[], WorkspaceFolder]) -> None:
        self._open_config = open_config
        self._lock = threading.Lock()
        self._config = open_config()
        self._error: ConfigError | None = None
        self._fingerprint = self.fingerprint()

    def config(self) -> WorkspaceFolder:
        """Open the workspace; another object once a file changed."""
        with self._lock:
            fingerprint = self.fingerprint()
            if fingerprint != self._fingerprint:
                self._open_anew()
                self._fingerprint = fingerprint
            return self._config

    def forget(self) -> None:
        """Read the files anew when they are next asked for."""
        with self._lock:
            self._open_anew()

    def workspace(self) -> Workspace:
        """Read the validated workspace.

        Raises:
            ConfigError: With every problem of every file.
        """
        self.config()
        with self._lock:
            return self._valid_workspace()

    def get_known_workspace(self) -> Workspace:
        """Read the workspace as it was when last asked for, without a look at the files.

        Raises:
            ConfigError: With every problem of every file.
        """
        with self._lock:
            return self._valid_workspace()

    def store(self) -> ResultStore:
        """Read the results of the workspace.

        Raises:
            ConfigError: With every problem of every file.
        """
        self.config()
        with self._lock:
            self._valid_workspace()
            return self._config.store

    def fingerprint(self) -> Fingerprint:
        """Build a value that changes with every edit of a file of the workspace."""
        return tuple(
            (str(path), status.st_size, status.st_mtime_ns)
            for path in self._files()
            if path.exists() and (status := path.stat())
        )

    def _open_anew(self) -> None:
        self._config = self._open_config()
        self._error = None

    def _valid_workspace(self) -> Workspace:
        """Validate the workspace; faults are looked for once, as every part of a page asks."""
        if self._error is not None:
            raise self._error.with_traceback(None)
        try:
            return self._config.workspace
        except ConfigError as error:
            self._error = error
            raise

    def _files(self) -> Iterator[Path]:
        folder = self._config.data_dir
        for name in (TEST_CLASSES_FILE, TESTS_FILE):
            yield folder / name
        yield llms_file(folder)
        for plugins in (folder / "evaluators", folder / "issues", project_evaluators_folder()):
            yield from sorted(plugins.glob("*.py"))

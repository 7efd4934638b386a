"""The workspace as it stands in its files now."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from poor_bench.config.load import TEST_CLASSES_FILE, TESTS_FILE, Workspace, find_llms_file
from poor_bench.errors import ConfigError
from poor_bench.plugins import find_project_evaluators
from poor_bench.results.store import ResultStore

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder

Fingerprint = tuple[tuple[str, int, int], ...]
V = TypeVar("V")
_SEEN: ContextVar[dict[Hashable, Any] | None] = ContextVar("seen", default=None)


@contextmanager
def looking_once() -> Iterator[None]:
    """Look at the files once for all that is asked within this block."""
    before = _SEEN.set({})
    try:
        yield
    finally:
        _SEEN.reset(before)


def look_once(topic: Hashable, look: Callable[[], V]) -> V:
    """Look at files, or return what was seen before within a block of `looking_once`."""
    seen = _SEEN.get()
    if seen is None:
        return look()
    if topic not in seen:
        seen[topic] = look()
    found: V = seen[topic]
    return found


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
        return look_once(self, self._look)

    def _look(self) -> WorkspaceFolder:
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
        if (seen := _SEEN.get()) is not None:
            seen.clear()

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
        folder = self._config.data_dir
        plugins = (folder / "evaluators", folder / "issues", find_project_evaluators())
        files = (folder / TEST_CLASSES_FILE, folder / TESTS_FILE, find_llms_file(folder))
        return tuple(_describe(chain(files, *map(_list_scripts, plugins))))

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


def _list_scripts(folder: Path) -> list[os.DirEntry[str]]:
    """List the plugins in a folder; without paths of their own, as every part of a page asks."""
    try:
        with os.scandir(folder) as entries:
            return sorted((each for each in entries if each.name.endswith(".py")), key=fspath)
    except OSError:
        return []


def _describe(files: Iterable[Path | os.DirEntry[str]]) -> Iterator[tuple[str, int, int]]:
    """Yield path, size and time of the last change of each file that exists."""
    for file in files:
        with suppress(OSError):
            status = file.stat()
            yield fspath(file), status.st_size, status.st_mtime_ns

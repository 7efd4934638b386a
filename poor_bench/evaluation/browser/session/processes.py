"""Processes of one browser: ended from outside for sure, whatever state they are in.

Playwright's driver is a child of ours; Chromium leads a process group of its own, in which all its
children are. Either may be frozen, busy without end or dead, so neither is asked to go.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from poor_bench.evaluation.browser.session.process_table import Process, living_processes

_DRIVER = " run-driver"
_PROFILE = "--user-data-dir="
_PLAYWRIGHTS_PROFILE = "playwright_chromiumdev_profile-"
_one_starts = threading.Lock()
"""Held while a driver starts, so that a new one is known to be one's own."""


class BrowserProcesses:
    """Driver and Chromium of one trial."""

    def __init__(self, table: Callable[[], Iterable[Process]] = living_processes) -> None:
        """Know of none yet.

        Args:
            table: Tells all processes of the machine.
        """
        self.flag = f"--poor-bench-browser={secrets.token_hex(8)}"
        """Marks Chromium; has to be among its arguments, and means nothing to it."""
        self._table = table
        self._of_others: set[int] = set()
        self._driver: int | None = None
        self._is_starting = False
        self._groups: set[int] = set()
        self._profiles: set[Path] = set()

    @contextlib.contextmanager
    def starting_driver(self) -> Iterator[None]:
        """Hold while the driver is started; it is found even if it never gets ready."""
        with _one_starts:
            self._of_others = self._drivers()
            self._is_starting = True
            try:
                yield
            finally:
                self._driver = next(iter(self._drivers() - self._of_others), None)
                self._is_starting = False

    def remember_chromium(self) -> None:
        """Take down where Chromium is, since its children do not carry its flag."""
        for process in self._table():
            if self.flag in process.command and process.group != os.getpgid(0):
                self._groups.add(process.group)
                self._profiles |= _profile_of(process)

    def end_pages(self) -> None:
        """End what shows pages; Chromium itself lives on and tells that they crashed."""
        self.remember_chromium()
        for process in self._table():
            if process.group in self._groups and "--type=renderer" in process.command:
                _kill(process.number)

    def end_chromium(self) -> None:
        """End Chromium and all its children, at once."""
        self.remember_chromium()
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)

    def end(self) -> None:
        """End everything, at once, and remove the profile that nobody removes now."""
        drivers = self._own_drivers()
        for driver in drivers:
            _kill(driver, signal.SIGSTOP)  # so that it starts nothing more
        self.end_chromium()
        for driver in drivers:
            _kill(driver)
        for profile in self._profiles:
            shutil.rmtree(profile, ignore_errors=True)

    def _own_drivers(self) -> set[int]:
        drivers = self._drivers()
        return drivers - self._of_others if self._is_starting else drivers & {self._driver}

    def _drivers(self) -> set[int]:
        ours = os.getpid()
        return {
            process.number
            for process in self._table()
            if process.parent == ours and process.command.rstrip().endswith(_DRIVER)
        }


def _profile_of(process: Process) -> set[Path]:
    written = process.command.partition(_PROFILE)[2].partition(" --")[0].strip()
    path = Path(written)
    return {path} if path.name.startswith(_PLAYWRIGHTS_PROFILE) else set()


def _kill(number: int, how: signal.Signals = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(number, how)

"""Processes and files of one browser: gone afterwards for sure, whoever is frozen or killed.

Playwright's driver is a child of ours; Chromium leads a process group of its own, in which all its
children are. Either may be frozen, busy without end or dead, so neither is asked to go.

Profile, downloads and sockets of a browser are in a folder that its process holds a lock on. The
system takes the lock from a process that dies, however it dies. So a folder without a lock belongs
to nobody, and whoever starts the next browser removes it, with the Chromium that may still use it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import BaseFileLock, FileLock, Timeout

_DRIVER = " run-driver"
_PROFILE = "--user-data-dir="
_one_starts = threading.Lock()
"""Held while a driver starts, so that a new one is known to be one's own."""
_PREFIX = "poor_bench-browser-"
_LOCK = "lock"
_VARIABLE = "TMPDIR"


@dataclass(frozen=True, slots=True)
class Process:
    """A process that has not ended."""

    number: int
    parent: int
    group: int
    command: str
    """Its arguments, with blanks between them."""


def living_processes() -> list[Process]:
    """List all processes of the machine, without zombies."""
    found = []
    for process in psutil.process_iter(["ppid", "status", "cmdline"]):
        known = process.info
        if known["status"] not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                command = " ".join(known["cmdline"] or ())
                group = os.getpgid(process.pid)
                found.append(Process(process.pid, known["ppid"], group, command))
    return found


class BrowserProcesses:
    """Driver and Chromium of one trial."""

    def __init__(self) -> None:
        self.flag = f"--poor-bench-browser={secrets.token_hex(8)}"
        """Marks Chromium; has to be among its arguments, and means nothing to it."""
        self._of_others: set[int] = set()
        self._driver: int | None = None
        self._is_starting = False
        self._groups: set[int] = set()

    @contextlib.contextmanager
    def starting_driver(self) -> Iterator[None]:
        """Hold while the driver is started; it is found even if it never gets ready."""
        with _one_starts:
            self._of_others = _find_drivers()
            self._is_starting = True
            try:
                yield
            finally:
                self._driver = next(iter(_find_drivers() - self._of_others), None)
                self._is_starting = False

    def remember_chromium(self) -> None:
        """Note the process groups of Chromium, since its children do not carry its flag."""
        self._groups |= {each.group for each in living_processes() if self.flag in each.command}
        self._groups.discard(os.getpgid(0))

    def end_pages(self) -> None:
        """End what shows pages; Chromium itself lives on and tells that they crashed."""
        self.remember_chromium()
        for process in living_processes():
            if process.group in self._groups and "--type=renderer" in process.command:
                _send(os.kill, process.number, signal.SIGKILL)

    def end_chromium(self) -> None:
        """End Chromium and all its children, at once."""
        self.remember_chromium()
        for group in self._groups:
            _send(os.killpg, group, signal.SIGKILL)

    def end(self) -> None:
        """End everything, at once."""
        drivers = self._find_own_drivers()
        for driver in drivers:
            _send(os.kill, driver, signal.SIGSTOP)  # so that it starts nothing more
        self.end_chromium()
        for driver in drivers:
            _send(os.kill, driver, signal.SIGKILL)

    def _find_own_drivers(self) -> set[int]:
        drivers = _find_drivers()
        return drivers - self._of_others if self._is_starting else drivers & {self._driver}


def _find_drivers() -> set[int]:
    return {
        each.number
        for each in living_processes()
        if each.parent == os.getpid() and each.command.rstrip().endswith(_DRIVER)
    }


def _send(send: Callable[[int, int], None], number: int, how: signal.Signals) -> None:
    """Send a signal to a process or a group, which may be gone by now."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send(number, how)


@contextlib.contextmanager
def make_temporary_folder() -> Iterator[Path]:
    """Make a folder for the temporary files of one browser; it is removed with the block."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
    with _build_lock(folder):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def give_to_children(folder: Path) -> Iterator[None]:
    """Let processes that are started in this block put their temporary files in `folder`.

    The driver of Playwright takes the place of its files from our environment only.
    """
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def remove_leftovers(table: Callable[[], Iterable[Process]] = living_processes) -> None:
    """Remove folders and end browsers of processes that were killed; of nobody else.

    Args:
        table: Lists all processes of the machine.
    """
    for folder in _parent().glob(f"{_PREFIX}*"):
        if not _is_own(folder):
            continue
        with contextlib.suppress(Timeout, OSError), _build_lock(folder).acquire(timeout=0):
            of_browser = f"{_PROFILE}{folder}{os.sep}"
            for group in {each.group for each in table() if of_browser in each.command}:
                if group != os.getpgid(0):
                    _send(os.killpg, group, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def _parent() -> Path:
    """Folder of temporary files, asked anew each time: `tempfile` remembers its first answer."""
    named = os.environ.get(_VARIABLE)
    return Path(named) if named and Path(named).is_dir() else Path(tempfile.gettempdir())


def _is_own(folder: Path) -> bool:
    """True if a folder, not a link to one, belongs to this user and has its lock."""
    try:
        found = folder.lstat()
        return (
            stat.S_ISDIR(found.st_mode)
            and found.st_uid == os.geteuid()
            and stat.S_ISREG((folder / _LOCK).lstat().st_mode)
        )
    except OSError:
        return False


def _build_lock(folder: Path) -> BaseFileLock:
    return FileLock(folder / _LOCK, thread_local=False)

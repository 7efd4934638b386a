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
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

_PROC = Path("/proc")
_COLUMNS = "pid=,ppid=,pgid=,stat=,command="
_PATIENCE_S = 5


@dataclass(frozen=True, slots=True)
class Process:
    """A process that has not ended."""

    number: int
    parent: int
    group: int
    command: str
    """Its arguments, with blanks between them."""


def living_processes() -> list[Process]:
    """All processes without zombies."""
    if (_PROC / "self" / "stat").exists():
        return list(_from_proc())
    with suppress(OSError, subprocess.SubprocessError):
        return list(_from_ps())
    return []


def _from_proc() -> Iterator[Process]:
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            # the name before the last bracket may hold blanks and brackets of its own
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        state, parent, group = fields[:3]
        if state not in "ZX":
            yield Process(int(folder.name), int(parent), int(group), command.replace("\0", " "))


def _from_ps() -> Iterator[Process]:
    listed = subprocess.run(
        ["ps", "-axww", "-o", _COLUMNS],
        capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False,
    )  # fmt: skip
    for line in listed.stdout.splitlines():
        number, parent, group, state, *command = line.split(maxsplit=4)
        if not state.startswith("Z"):
            yield Process(int(number), int(parent), int(group), " ".join(command))


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


_PREFIX = "poor_bench-browser-"
_LOCK = "lock"
_VARIABLE = "TMPDIR"


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for the temporary files of one browser; it is removed with the block."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
    lock = _lock_of(folder)
    lock.acquire()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


@contextlib.contextmanager
def used_by_children(folder: Path) -> Iterator[None]:
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
        table: Tells all processes of the machine.
    """
    for folder in _parent().glob(f"{_PREFIX}*"):
        if _is_own(folder):
            _remove_if_left(folder, table)


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


def _remove_if_left(folder: Path, table: Callable[[], Iterable[Process]]) -> None:
    lock = _lock_of(folder)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return
    try:
        _end_browsers(folder, table)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()


def _end_browsers(folder: Path, table: Callable[[], Iterable[Process]]) -> None:
    of_browser = f"{_PROFILE}{folder}{os.sep}"
    groups = {each.group for each in table() if of_browser in each.command} - {os.getpgid(0)}
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _lock_of(folder: Path) -> BaseFileLock:
    return FileLock(folder / _LOCK, thread_local=False)

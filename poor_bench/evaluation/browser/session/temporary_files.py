"""Temporary files of one browser in one folder, so that none stays behind, whoever is killed.

Profile, downloads and sockets of a browser are in a folder that its process holds a lock on. The
system takes the lock from a process that dies, however it dies. So a folder without a lock belongs
to nobody, and whoever starts the next browser removes it, with the Chromium that may still use it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from poor_bench.evaluation.browser.session.process_table import Process, living_processes

_PREFIX = "poor_bench-browser-"
_LOCK = "lock"
_VARIABLE = "TMPDIR"
_PROFILE = "--user-data-dir="


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

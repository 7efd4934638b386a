"""The processes of a browser, and the limits that end them.

Processes and files are gone afterwards for sure, whoever is frozen or killed. Playwright's driver
is a child of ours; Chromium leads a process group of its own, in which all its children are. Either
may be frozen, busy without end or dead, so neither is asked to go.

Profile, downloads and sockets of a browser are in a folder that its process holds a lock on. The
system takes the lock from a process that dies, however it dies. So a folder without a lock belongs
to nobody, and whoever starts the next browser removes it, with the Chromium that may still use it.

Playwright's calls wait, some without end: for a download that drips, a page in an endless loop, a
browser or a driver that is frozen. Nothing in them can be asked to stop; but when the processes are
gone, whatever waits for them fails at once. So a thread watches three limits, each inside the one
before:

1. the run: it ends when the user stops it;
2. the trial: `time_limit_s` of its task, counted from the moment its browser is ready;
3. the wait: how long one step may take, which is the start of the browser, an answer of a page, or
   the end of the browser. Waits nest: while an inner one lasts, the time of the outer one stands
   still.

What is past its limit is ended mildly first: the pages for an overdue answer, else Chromium.
Playwright's driver lives on and tells what happened. If that does not help within `mild_s`, the
driver is ended too: then `has_given_up` is true and nothing more can be learnt.
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
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import BaseFileLock, FileLock, Timeout

from poor_bench.ports import Clock

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


def list_living_processes() -> list[Process]:
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
        self._groups |= {
            each.group for each in list_living_processes() if self.flag in each.command
        }
        self._groups.discard(os.getpgid(0))

    def end_pages(self) -> None:
        """End what shows pages; Chromium itself lives on and tells that they crashed."""
        self.remember_chromium()
        for process in list_living_processes():
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
        for each in list_living_processes()
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


def remove_leftovers(table: Callable[[], Iterable[Process]] = list_living_processes) -> None:
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
    named = Path(os.environ.get(_VARIABLE) or tempfile.gettempdir())
    if named.name.startswith(_PREFIX):  # another trial starts its driver, see `give_to_children`
        named = named.parent
    return named if named.is_dir() else Path(tempfile.gettempdir())


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


_INTERVAL_S = 0.25
_STANDSTILL_S = 4 * _INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Longest waits for a browser, in seconds."""

    start_s: float = 60
    answer_s: float = 60
    """For a page to answer: longer than all that Playwright itself gives up on."""
    new_tab_s: float = 20
    """More than `answer_s` for a new tab: it starts a process, and if that were ended as overdue,
    the tab would never come."""
    end_s: float = 10
    mild_s: float = 5
    """After a mild end of something, until everything is ended."""


@dataclass(slots=True)
class Limit:
    """End of a run, a trial or a wait."""

    due_s: float
    end_mildly: Callable[[], None]
    is_enforced: bool = False
    """True once something was ended because of it."""


class BrowserWatchdog:
    """Watches the browser of one trial; a context manager around all of its life."""

    def __init__(
        self,
        processes: BrowserProcesses,
        clock: Clock,
        cancelled: Callable[[], bool],
        patience: Patience,
    ) -> None:
        """Watch a browser that is not started yet.

        Args:
            processes: What is ended.
            clock: Source of time.
            cancelled: True once the run was stopped.
            patience: Longest waits.
        """
        self.has_given_up = False
        self.patience = patience
        self.processes = processes
        self._clock = clock
        self._cancelled = cancelled
        self._run: Limit | None = None
        self._trial: Limit | None = None
        self._wait: Limit | None = None
        self._enforcing = threading.Lock()
        """Held while something is ended: a wait that begins meanwhile must not be hit by the end
        of the one before it, so leaving a wait takes this lock."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start_trial(self, time_limit_s: float) -> None:
        """Start the time of the trial."""
        due_s = self._clock.monotonic() + time_limit_s
        self._trial = Limit(due_s, self.processes.end_chromium)

    @property
    def is_out_of_time(self) -> bool:
        """True once the time of the trial is over."""
        return self._trial is not None and self._clock.monotonic() > self._trial.due_s

    def is_cancelled_within(self, seconds: float) -> bool:
        """True if the run is stopped, now or within `seconds`.

        Ctrl-C in a terminal reaches the browser too, and may end it before the run knows.
        """
        self._clock.wait(seconds, self._cancelled)
        return self._cancelled()

    def starting(self) -> AbstractContextManager[Limit]:
        """Limit the start of the browser."""
        return self._waiting(self.patience.start_s, self.processes.end)

    def ending(self) -> AbstractContextManager[Limit]:
        """Limit the time in which the browser ends by itself."""
        return self._waiting(self.patience.end_s, self.processes.end)

    def asking_page(self, more_s: float) -> AbstractContextManager[Limit]:
        """Limit an answer of a page; if it is overdue, all pages are ended first.

        Args:
            more_s: Seconds that the answer may take longer than others.
        """
        return self._waiting(self.patience.answer_s + more_s, self.processes.end_pages)

    @contextmanager
    def _waiting(self, seconds: float, end_mildly: Callable[[], None]) -> Iterator[Limit]:
        outer, begun_s = self._wait, self._clock.monotonic()
        limit = self._wait = Limit(begun_s + seconds, end_mildly)
        try:
            yield limit
        finally:
            with self._enforcing:
                if outer is not None:
                    outer.due_s += self._clock.monotonic() - begun_s
                self._wait = outer

    def __enter__(self) -> BrowserWatchdog:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()
        self.processes.end()

    def _watch(self) -> None:
        last_s = self._clock.monotonic()
        while not self._over.wait(_INTERVAL_S):
            now_s = self._clock.monotonic()
            with self._enforcing:
                # A machine that slept is forgiven: the browser could not answer either.
                if self._wait is not None and now_s - last_s > _STANDSTILL_S:
                    self._wait.due_s += now_s - last_s
                if self._run is None and self._cancelled():
                    self._run = Limit(now_s, self.processes.end_chromium)
                self._enforce(
                    [each for each in (self._run, self._trial, self._wait) if each], now_s
                )
            last_s = self._clock.monotonic()

    def _enforce(self, limits: list[Limit], now_s: float) -> None:
        overdue = [limit for limit in limits if now_s >= limit.due_s]
        if not overdue:
            return
        first = min(overdue, key=lambda limit: limit.due_s)
        first.is_enforced = True
        if now_s - first.due_s < self.patience.mild_s:
            first.end_mildly()
        else:
            self.has_given_up = True
            self.processes.end()

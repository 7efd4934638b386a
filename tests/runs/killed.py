"""A process that is killed at a line of a journal, for tests of what is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from poor_bench.cli.main import main
from poor_bench.dashboard.services.services import Services
from poor_bench.runner.selection import Selection
from poor_bench.runs.journal import JournalWriter
from poor_bench.workspace_folder import WorkspaceFolder
from tests import forked


def kill_console(n_lines: int, *arguments: str) -> None:
    """Run a command that is killed as soon as it has written so many lines."""
    assert forked.run(_run_console, n_lines, arguments) == -signal.SIGKILL


def kill_dashboard(n_lines: int, folder: Path) -> None:
    """Run all tests from a dashboard that is killed as soon as it has written so many lines."""
    assert forked.run(_run_dashboard, n_lines, folder) == -signal.SIGKILL


def _run_console(n_lines: int, arguments: tuple[str, ...]) -> None:
    _die_after(n_lines)
    main(list(arguments))


def _run_dashboard(n_lines: int, folder: Path) -> None:
    _die_after(n_lines)
    services = Services(lambda: WorkspaceFolder(folder))
    services.runs.start(Selection())
    services.runs.wait()


def _die_after(n_lines: int) -> None:
    write, n_left = JournalWriter._write, [n_lines]

    def counted(self: JournalWriter, line: bytes) -> None:
        if not n_left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        n_left[0] -= 1
        write(self, line)

    JournalWriter._write = counted

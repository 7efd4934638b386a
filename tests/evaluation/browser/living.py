"""Processes of browsers that tests started."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from poor_bench.evaluation.browser.watchdog import Process, list_living_processes
from tests.waiting import wait_for

PATIENCE_S = 30
"""In which what is to be ended is ended, on machines of any speed."""


def chromium_group(profiles: Path) -> list[Process]:
    """Return Chromium and its children, by the folder that its profile is in."""
    known = list_living_processes()
    groups = {each.group for each in known if f"--user-data-dir={profiles}" in each.command}
    return [each for each in known if each.group in groups]


def drivers(parent: int | None = None) -> list[Process]:
    """Return the drivers of Playwright that a process, by default this one, has started."""
    parent = parent or os.getpid()
    return [p for p in list_living_processes() if p.parent == parent and "run-driver" in p.command]


def wait_until_gone(started: Iterable[Process]) -> None:
    """Return as soon as none of the processes, nor any other of Chromium's group, is there."""
    numbers = {each.number for each in started}
    groups = {each.group for each in started} - {os.getpgid(0)}

    def left() -> list[Process]:
        return [p for p in list_living_processes() if p.number in numbers or p.group in groups]

    wait_for(lambda: not left(), left)

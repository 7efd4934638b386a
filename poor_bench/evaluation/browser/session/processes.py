"""Chromium's processes: found while it lives, ended for sure when it must be gone."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def process_group_of(browser: Browser) -> int | None:
    """Return the process group that Chromium and all its children are in; None if it has none."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    leaders = [process["id"] for process in processes if process["type"] == "browser"]
    if not leaders:
        return None
    group = os.getpgid(leaders[0])
    return None if group == os.getpgid(0) else group


def end_process_group(group: int | None) -> None:
    """End what is still there of a process group, at once."""
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)

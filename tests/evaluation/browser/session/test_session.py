from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Error

from poor_bench.calls.caller import SystemClock
from poor_bench.errors import AgentError
from poor_bench.evaluation.browser.session import BrowserSession
from poor_bench.evaluation.browser.watchdog import BrowserProcesses, BrowserWatchdog, Patience


class Context:
    """A browser context without tabs, whose next new ones fail as told."""

    def __init__(self, *failures: str) -> None:
        self.pages: list[object] = []
        self.opened = object()
        self._failures = list(failures)

    def on(self, event: str, listener: object) -> None:
        """Nothing happens in this context."""

    def new_page(self) -> object:
        if self._failures:
            raise Error(self._failures.pop(0))
        return self.opened


def session_of(context: Context, folder: Path) -> BrowserSession:
    watchdog = BrowserWatchdog(BrowserProcesses(), SystemClock(), lambda: False, Patience())
    proxy: Any = None
    credentials: Any = SimpleNamespace(values={})
    given: Any = context
    return BrowserSession(
        given,
        proxy=proxy,
        credentials=credentials,
        folder=folder,
        watchdog=watchdog,
        cancelled=lambda: False,
        allow_private=False,
    )


def test_a_new_tab_that_gets_a_process_just_ended_is_opened_again(tmp_path: Path) -> None:
    context = Context("BrowserContext.new_page: Target crashed")
    assert session_of(context, tmp_path).page is context.opened


@pytest.mark.slow(reason="waits for real processes or limits")
@pytest.mark.parametrize(
    "failures", [("Target crashed", "Target crashed"), ("Browser has been closed",)]
)
def test_a_browser_that_opens_no_tab_is_gone(tmp_path: Path, failures: tuple[str, ...]) -> None:
    with pytest.raises(AgentError, match="Chromium is gone"):
        _ = session_of(Context(*failures), tmp_path).page

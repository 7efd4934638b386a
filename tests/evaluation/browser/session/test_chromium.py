from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from poor_bench.evaluation.browser.opening import find_chromium, launch

sync_api = pytest.importorskip("playwright.sync_api")
NO_SANDBOX = "[FATAL] No usable sandbox! If you are running on Ubuntu 23.10+ ..."


class FakeChromium:
    """Starts, or fails while its sandbox is on."""

    def __init__(self, failure: str = "") -> None:
        self.failure = failure
        self.started: list[dict[str, Any]] = []

    def launch(self, **options: Any) -> str:
        self.started.append(options)
        if options["chromium_sandbox"] and self.failure:
            raise sync_api.Error(self.failure)
        return "browser"


def started(chromium: FakeChromium, **environ: str) -> list[dict[str, Any]]:
    playwright: Any = SimpleNamespace(chromium=chromium)
    launch(playwright, "http://127.0.0.1:8080", environ, "--flag=1")
    return chromium.started


@pytest.mark.parametrize(
    ("user", "failure", "tried"),
    [(0, "", [False]), (1000, "", [True]), (1000, NO_SANDBOX, [True, False])],
)
def test_the_sandbox_is_on_where_there_can_be_one(
    monkeypatch: pytest.MonkeyPatch, user: int, failure: str, tried: list[bool]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    options = started(FakeChromium(failure))
    assert [each["chromium_sandbox"] for each in options] == tried


def test_another_failure_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    chromium = FakeChromium("ENOENT")
    with pytest.raises(sync_api.Error, match="ENOENT"):
        started(chromium)
    assert len(chromium.started) == 1


def test_chromium_gets_the_proxy_and_no_keys() -> None:
    (options,) = started(FakeChromium(), PATH="/bin", OPENAI_API_KEY="sk-1", SHOP_PASSWORD="x")
    assert options["proxy"] == {"server": "http://127.0.0.1:8080"}
    assert options["env"] == {"PATH": "/bin"}
    assert "--proxy-bypass-list=<-loopback>" in options["args"]
    assert "--flag=1" in options["args"]


def test_the_variable_names_another_chromium() -> None:
    assert find_chromium({"POOR_BENCH_CHROMIUM": "/opt/chrome"}) == "/opt/chrome"


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        (["/usr/lib/chromium/chromium-headless-shell", "chromium"], "chromium-headless-shell"),
        (["chromium", "chromium-browser"], "chromium"),
        (["chromium-browser"], "chromium-browser"),
        ([], None),
    ],
)
def test_the_lightest_chromium_of_the_system_is_found(
    monkeypatch: pytest.MonkeyPatch, installed: list[str], found: str | None
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name in installed else None)
    path = find_chromium({})
    assert (path and Path(path).name) == found

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.web import server
from poor_bench.errors import ConfigError
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of


class Reading:
    """Services that read as they are told to."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.results = self
        self.summaries = lambda _by: read()


def read_ahead(read: Callable[[], Any]) -> list[str]:
    said: list[str] = []
    server._read_ahead(cast("Services", Reading(read)), said.append)
    return said


def test_reading_that_takes_long_is_told_and_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 0)
    monkeypatch.setattr(server, "_PATIENCE_S", 0)
    goes_on = threading.Event()
    try:
        assert read_ahead(lambda: goes_on.wait(20)) == ["Reading the results ..."]
    finally:
        goes_on.set()


def test_quick_reading_is_over_before_the_first_page_and_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 60)
    done: list[bool] = []
    assert read_ahead(lambda: done.append(True)) == []
    assert done


def test_faults_of_the_workspace_are_left_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_UNNOTICED_S", 60)

    def fail() -> None:
        raise ConfigError("tests.json is broken")

    assert read_ahead(fail) == []


def test_the_next_start_tells_of_a_run_whose_process_was_killed(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_of(workspace_files.write())
    store = services.files.config().store
    said: list[str] = []
    running = store.open_run("20260102T030405-aaaaaa", {"n_items": 1_200})
    server.tell_interrupted(services, said.append)
    assert said == []
    running.close()
    server.tell_interrupted(services, said.append)
    assert said[0].startswith("Run 20260102T030405-aaaaaa of 1,200 trials was interrupted.")
    assert len(said) == 1

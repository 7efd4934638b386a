"""What the tests of the runner share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poor_bench.llm_manager import LLMManager
from poor_bench.pool.control import RunControl
from poor_bench.runner.events import RunEvent, RunFinished
from poor_bench.runner.selection import Selection
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.providers.fake_clock import FakeClock


class RecordingListener:
    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def __call__(self, event: RunEvent) -> None:
        self.events.append(event)

    def of_kind(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def open_runner(folder: Path) -> WorkspaceRunner:
    return WorkspaceRunner(WorkspaceFolder(folder), LLMManager(folder, clock=FakeClock()))


def run_all(
    folder: Path,
    listener: Any = lambda _event: None,
    control: RunControl | None = None,
    **selection: Any,
) -> RunFinished:
    runner = open_runner(folder)
    return runner.run(runner.plan(Selection(**selection)), listener, control)

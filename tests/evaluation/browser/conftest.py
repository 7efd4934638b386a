"""Trials in a real Chromium, without the world outside."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.caller import SystemClock
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, AgentTask, Step, TrialControl
from poor_bench.evaluation.browser.agent import BrowserAgent
from poor_bench.evaluation.browser.opening import open_session
from poor_bench.evaluation.browser.proxy import Network
from poor_bench.evaluation.browser.session import BrowserSession
from poor_bench.evaluation.browser.watchdog import Patience
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock
from tests.browser.chromium import NoBrowserError, started_browser
from tests.evaluation.browser.sites import Answer, Site, served

REQUIRED = "POOR_BENCH_REQUIRE_BROWSER"


@pytest.fixture(scope="session")
def chromium() -> None:
    """Skip tests where there is no Chromium, or fail where it is required."""
    try:
        with started_browser():
            pass
    except NoBrowserError as error:
        if os.environ.get(REQUIRED):
            raise
        pytest.skip(f"agents in a browser need Chromium: {error}")


class _Agent(BrowserAgent):
    """The agent behind a network and with a patience of the tests' choice."""

    def __init__(
        self, services: AgentServices, network: Network | None, patience: Patience
    ) -> None:
        super().__init__(services)
        self._network, self._patience = network, patience

    def open_session(
        self, task: AgentTask, control: TrialControl
    ) -> AbstractContextManager[BrowserSession]:
        return open_session(
            task,
            control,
            environ=self._services.environ,
            clock=self._services.clock,
            network=self._network,
            patience=self._patience,
        )


@dataclass
class Trials:
    """Runs trials, and keeps what they told."""

    folder: Path
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    network: Network | None = None
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=SystemClock)
    steps: list[Step] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    n_trials: int = 0

    def task(self, **fields: Any) -> AgentTask:
        self.n_trials += 1
        folder = self.folder / f"trial-{self.n_trials}"
        folder.mkdir(parents=True)
        defaults = {"case_id": "case", "trial": 1, "directive": "Do it.", "folder": folder}
        return AgentTask(**(defaults | {"allow_private_networks": True} | fields))

    def run(self, **fields: Any) -> AgentOutcome:
        task = self.task(**fields)
        services = AgentServices(
            data_dir=self.folder,
            llms=LLMManager(self.folder, environ=self.environ),
            environ=self.environ,
            clock=self.clock,
        )
        self.steps.clear()
        return _Agent(services, self.network, self.patience).run(task, self._control())

    def playbook(self, text: str, **fields: Any) -> AgentOutcome:
        path = self.folder / f"playbook-{self.n_trials}.yaml"
        path.write_text(f"name: Test\n{text}", encoding="utf-8")
        return self.run(playbook=path, execution_mode="playbook_only", **fields)

    def session(self, **fields: Any) -> Any:
        return open_session(
            self.task(**fields),
            self._control(),
            environ=self.environ,
            clock=self.clock,
            network=self.network,
            patience=self.patience,
        )

    def last_folder(self) -> Path:
        return self.folder / f"trial-{self.n_trials}"

    def _control(self) -> TrialControl:
        return TrialControl(cancelled=self.stopped.is_set, note_step=self.steps.append)


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that profiles of browsers of this test are in."""
    folder = tmp_path / "profiles"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def trials(chromium: None, tmp_path: Path) -> Trials:
    return Trials(tmp_path)


@pytest.fixture
def serve() -> Iterator[Callable[[Mapping[str, str | Answer]], Site]]:
    """Serve pages until the test ends."""
    with ExitStack() as stack:
        yield lambda pages: stack.enter_context(served(pages))


def scripted(*replies: str | Mapping[str, Any]) -> LLM:
    """Return an LLM that says this, in turn."""
    texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    return LLM(id="scripted:x", provider="scripted", name="x", parameters={"responses": texts})

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from poor_bench.dashboard.services.run_service import RunService
from poor_bench.dashboard.services.run_state import LLMPhase, RunPhase, RunState, RunWay
from poor_bench.errors import RunRefusedError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import ChatRequest, Completion, FinishReason, Timing
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.ports import CallControl
from poor_bench.runner.selection import Selection
from poor_bench.runs.turn import RunTurn
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.providers.idle_provider import IdleProvider
from tests.providers.servers.batch_format import BatchServer
from tests.providers.servers.fake_server import serving

PATIENCE_S = 20.0


class HeldProvider(IdleProvider):
    """Answers as soon as it is let go."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()

    def complete(self, _request: ChatRequest, control: CallControl) -> Completion:
        self.asked.set()
        while not self.released.wait(0.01) and not control.cancelled():
            pass
        return Completion(text="4", finish_reason=FinishReason.STOP, timing=Timing(total_ms=5.0))


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", "4")
    return workspace_files.write()


def service_over(folder: Path, create: Callable[[LLM], object] | None = None) -> RunService:
    def open_runner() -> WorkspaceRunner:
        config = WorkspaceFolder(folder)
        if create is None:
            return WorkspaceRunner(config)
        manager = LLMManager(folder, create=lambda llm, _services: create(llm))  # type: ignore[arg-type,return-value]
        return WorkspaceRunner(config, manager)

    return RunService(open_runner, lambda: WorkspaceFolder(folder).store)


@pytest.fixture
def held(folder: Path) -> Iterator[tuple[RunService, HeldProvider]]:
    provider = HeldProvider()
    service = service_over(folder, lambda _llm: provider)
    yield service, provider
    provider.released.set()
    service.cancel()
    service.wait(PATIENCE_S)


def ended(service: RunService) -> RunState:
    service.wait(PATIENCE_S)
    return service.state()


def test_before_the_first_run_nothing_is_active(folder: Path) -> None:
    state = service_over(folder).state()
    assert state.phase is RunPhase.IDLE
    assert not state.is_active


def test_a_run_ends_with_its_figures(folder: Path) -> None:
    service = service_over(folder)
    service.start(Selection())
    state = ended(service)
    assert state.phase is RunPhase.FINISHED
    assert (state.n_items, state.n_done, state.n_failed) == (3, 3, 0)
    [llm] = state.llms
    assert (llm.phase, llm.score) == (LLMPhase.FINISHED, 1.0)
    assert len(WorkspaceFolder(folder).load_results()) == 3


def test_starting_the_same_again_changes_nothing(held: tuple[RunService, HeldProvider]) -> None:
    service, provider = held
    service.start(Selection())
    assert provider.asked.wait(PATIENCE_S)
    first = service.state().run_id
    assert service.start(Selection()).run_id == first


def test_another_start_is_refused_while_a_run_goes_on(
    held: tuple[RunService, HeldProvider],
) -> None:
    service, provider = held
    service.start(Selection())
    assert provider.asked.wait(PATIENCE_S)
    with pytest.raises(RunRefusedError):
        service.start(Selection(trials=2))


def test_a_cancelled_run_keeps_what_is_finished(held: tuple[RunService, HeldProvider]) -> None:
    service, provider = held
    service.start(Selection())
    assert provider.asked.wait(PATIENCE_S)
    assert service.cancel().phase in {RunPhase.STOPPING, RunPhase.CANCELLED}
    assert ended(service).phase is RunPhase.CANCELLED


def test_a_paused_run_goes_on_after_resuming(held: tuple[RunService, HeldProvider]) -> None:
    service, provider = held
    service.start(Selection())
    assert provider.asked.wait(PATIENCE_S)
    assert service.pause().phase is RunPhase.PAUSED
    assert service.resume().phase is RunPhase.RUNNING
    provider.released.set()
    assert ended(service).phase is RunPhase.FINISHED


def test_a_run_that_cannot_start_says_why(workspace_files: WorkspaceFiles, folder: Path) -> None:
    service = service_over(folder)
    service.start(Selection(tests=("no_such_test",)))
    state = ended(service)
    assert state.phase is RunPhase.BROKEN
    assert "no_such_test" in state.message


def test_after_a_broken_run_another_one_can_start(folder: Path) -> None:
    service = service_over(folder)
    service.start(Selection(tests=("no_such_test",)))
    ended(service)
    service.start(Selection())
    assert ended(service).phase is RunPhase.FINISHED


def test_a_run_of_another_process_is_watched_and_keeps_ours_from_starting(folder: Path) -> None:
    store = WorkspaceFolder(folder).store
    header = {
        "llms": {"scripted:one": 3},
        "started": "2026-01-01T00:00:00+00:00",
        "choice": Selection().to_json(),
    }
    journal = store.open_run("20260101T000000-a", header)
    journal.append(Result(llm_id="scripted:one", test_id="sum_001", score=1.0))
    older = {"run_id": "20251231T000000-a", "score": 0.5}
    journal.append(Result(llm_id="scripted:one", test_id="sum_002", **older))  # scored again
    service = service_over(folder)
    state = service.state()
    assert state.is_foreign
    assert (state.phase, state.n_items, state.n_done) == (RunPhase.RUNNING, 3, 1)
    with pytest.raises(RunRefusedError, match="20260101T000000-a"):
        service.start(Selection())
    journal.close()
    assert service.state().phase is RunPhase.INTERRUPTED


def test_one_process_at_a_time_has_the_turn(folder: Path) -> None:
    console = RunTurn(WorkspaceFolder(folder).store.paths.history)
    assert console.take()
    service = service_over(folder)
    with pytest.raises(RunRefusedError, match="another run is in progress"):
        service.start(Selection())
    console.give_back()
    service.start(Selection())
    assert ended(service).phase is RunPhase.FINISHED
    service.wait()
    assert console.take()
    console.give_back()


def test_the_journal_of_a_killed_run_holds_nobody_up(folder: Path) -> None:
    journal = WorkspaceFolder(folder).store.open_run("20260101T000000-a", {})
    journal.append(Result(llm_id="scripted:one", test_id="sum_001", score=1.0))
    journal.close()
    service = service_over(folder)
    service.start(Selection())
    state = ended(service)
    assert (state.phase, state.n_items) == (RunPhase.FINISHED, 2)


def test_nothing_is_started_while_an_agent_is_judged(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    service = RunService(
        lambda: WorkspaceRunner(config),
        lambda: config.store,
        busy=lambda: "an agent is being judged",
    )
    with pytest.raises(RunRefusedError, match="an agent is being judged"):
        service.start(Selection())


def test_trials_are_submitted_as_a_batch_and_collected(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("here", "4")
    workspace_files.llms.append({"provider": "openai", "name": "m"})
    folder, batches = workspace_files.write(), BatchServer()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with serving(batches) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        service = service_over(folder)
        submitted = wait_for_end(service, RunWay.BATCH)
        assert (
            submitted.message
            == "3 trials in a batch. 3 trials pending, no batch API: scripted:here."
        )
        assert not submitted.can_continue
        awaited = wait_for_end(service, RunWay.COLLECT)
        assert awaited.message == "Collected 0 batches. 3 trials in a batch."
        batches.finish()
        collected = wait_for_end(service, RunWay.COLLECT)
        assert (collected.message, collected.n_done) == ("Collected 1 batch.", 3)
    results = list(WorkspaceFolder(folder).store.results())
    assert [(result.via, result.score) for result in results] == [("batch", 1.0)] * 3


def wait_for_end(service: RunService, way: RunWay) -> RunState:
    service.start(Selection(), way)
    service.wait(PATIENCE_S)
    state = service.state()
    assert state.phase is RunPhase.FINISHED
    return state

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from poor_bench.dashboard.services.judge_service import JudgeOrder, JudgeService, JudgeState
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.judge.agent_run import JudgeRunner
from poor_bench.judge.run_plan import JudgeRequest
from poor_bench.judge.storage import JudgementStore
from poor_bench.llm_manager import LLMManager
from tests.dashboard.services.test_run_service import PATIENCE_S, HeldProvider
from tests.judge.agent_workspace import write_workspace

REQUEST = JudgeRequest(agent_id="bikes", judges=("scripted:judge",))
ORDER = JudgeOrder(request=REQUEST)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_workspace(tmp_path)


def service_over(folder: Path, **more: Any) -> JudgeService:
    return JudgeService(lambda: folder, **more)


@pytest.fixture
def held(folder: Path) -> Iterator[tuple[JudgeService, HeldProvider]]:
    provider = HeldProvider()

    def open_runner(data_dir: Path, **more: Any) -> JudgeRunner:
        create: Any = lambda _llm, _services: provider  # noqa: E731
        return JudgeRunner(data_dir, manager=LLMManager(data_dir, create=create), **more)

    service = service_over(folder, open_runner=open_runner)
    yield service, provider
    service.cancel()
    provider.released.set()
    service.wait(PATIENCE_S)


def ended(service: JudgeService) -> JudgeState:
    service.wait(PATIENCE_S)
    return service.state()


def with_prices(folder: Path) -> None:
    listed = json.loads((folder / "llms.json").read_text())
    for llm in listed["llms"]:
        llm["prices"] = {"input": 0, "output": 1000}
    (folder / "llms.json").write_text(json.dumps(listed))


def test_a_run_is_previewed_without_asking_anybody(folder: Path) -> None:
    with_prices(folder)
    planned = service_over(folder).preview(REQUEST)
    assert (planned.plan.n_conversations, planned.plan.n_judgements) == (2, 1)
    assert planned.most_usd > 0
    assert JudgementStore(folder).runs() == []


def test_a_run_is_held_judged_and_kept(folder: Path) -> None:
    service = service_over(folder)
    assert service.state() == JudgeState()
    service.start(ORDER)
    state = ended(service)
    assert state.phase is RunPhase.FINISHED
    assert (state.agent_name, state.n_done, state.n_steps) == ("bikes", 3, 3)
    assert "7.00 of 10" in state.events[0]
    [run] = JudgementStore(folder).runs()
    assert run.is_complete


def test_only_one_run_goes_on_at_a_time(held: tuple[JudgeService, HeldProvider]) -> None:
    service, provider = held
    service.start(ORDER)
    assert provider.asked.wait(PATIENCE_S)
    assert service.start(ORDER).is_active
    other = JudgeOrder(request=REQUEST, max_cost_usd=1.0)
    with pytest.raises(RunRefusedError, match="another run is in progress"):
        service.start(other)


def test_nothing_is_started_beside_a_run_of_tests(folder: Path) -> None:
    service = service_over(folder, busy=lambda: "the run x is under way")
    with pytest.raises(RunRefusedError, match="the run x is under way"):
        service.start(ORDER)
    assert service.state().phase is RunPhase.IDLE


def test_a_cancelled_run_stays_incomplete(
    held: tuple[JudgeService, HeldProvider], folder: Path
) -> None:
    service, provider = held
    service.start(ORDER)
    assert provider.asked.wait(PATIENCE_S)
    assert service.cancel().phase in {RunPhase.STOPPING, RunPhase.CANCELLED}
    assert ended(service).phase is RunPhase.CANCELLED
    [run] = JudgementStore(folder).runs()
    assert run.judgements == ()
    assert not run.is_complete


def test_work_that_might_cost_too_much_is_told(folder: Path) -> None:
    with_prices(folder)
    service = service_over(folder)
    service.start(JudgeOrder(request=REQUEST, max_cost_usd=0.0))
    state = ended(service)
    assert state.phase is RunPhase.FINISHED
    assert "2 conversations and judgements skipped: cost limit" in state.message


def test_a_mistake_in_the_files_is_told(folder: Path) -> None:
    service = service_over(folder)
    with pytest.raises(ConfigError, match="agent 'cars' does not exist"):
        service.preview(JudgeRequest(agent_id="cars"))
    service.start(JudgeOrder(request=JudgeRequest(agent_id="cars"), max_cost_usd=math.inf))
    state = ended(service)
    assert state.phase is RunPhase.BROKEN
    assert "The agent 'cars' does not exist" in state.message


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_our_own_ends_the_run_on_the_page(folder: Path) -> None:
    raised = threading.Event()

    def broken(_data_dir: Path, **_more: Any) -> JudgeRunner:
        raised.set()
        raise RuntimeError("a bug")

    service = service_over(folder, open_runner=broken)
    service.start(ORDER)
    assert ended(service).phase is RunPhase.BROKEN
    assert raised.is_set()

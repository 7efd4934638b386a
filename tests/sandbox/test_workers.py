from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest

from poor_bench.sandbox import Program, Sandbox
from poor_bench.sandbox import workers as processors
from poor_bench.sandbox import workers as workers_module
from poor_bench.sandbox.launchers import PipeLauncher
from poor_bench.sandbox.workers import SandboxWorkers

PROCESSORS = {2, 5, 7}


class Launcher(PipeLauncher):
    """Remembers its processor and whether it was closed."""

    def __init__(self, processor: int) -> None:
        self.processor = processor
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> SandboxWorkers:
    monkeypatch.setattr(processors, "_list_processors", lambda: sorted(PROCESSORS))
    return SandboxWorkers(Launcher)


def processor_of(worker: workers_module.SandboxWorker) -> int:
    assert isinstance(worker.launcher, Launcher)
    return worker.launcher.processor


def test_one_after_the_other_has_the_same_station(workers: SandboxWorkers) -> None:
    with workers.take() as first:
        pass
    with workers.take() as second:
        assert second is first


def test_workers_taken_at_once_have_different_processors(workers: SandboxWorkers) -> None:
    with workers.take() as one, workers.take() as two, workers.take() as three:
        assert {processor_of(one), processor_of(two), processor_of(three)} == PROCESSORS


def test_who_finds_all_stations_taken_waits_for_one(workers: SandboxWorkers) -> None:
    taken, leave = threading.Barrier(len(PROCESSORS) + 1), threading.Event()

    def hold() -> None:
        with workers.take():
            taken.wait(20)
            leave.wait(20)

    def come_late() -> int:
        with workers.take() as worker:
            return processor_of(worker)

    with ThreadPoolExecutor(len(PROCESSORS) + 1) as threads:
        holders = [threads.submit(hold) for _ in PROCESSORS]
        taken.wait(20)
        late = threads.submit(come_late)
        assert not late.done()
        leave.set()
        assert late.result(20) in PROCESSORS
        assert all(holder.result(20) is None for holder in holders)


def test_who_waits_longest_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    is_queued = threading.Event()

    class Queue(deque[object]):
        def append(self, item: object) -> None:
            super().append(item)
            is_queued.set()

    monkeypatch.setattr(processors, "_list_processors", lambda: [0])
    monkeypatch.setattr(workers_module, "deque", Queue)
    workers = SandboxWorkers(Launcher)
    order: list[str] = []

    def take(name: str) -> None:
        with workers.take():
            order.append(name)

    with ThreadPoolExecutor(1) as threads:
        with workers.take():
            waiting = threads.submit(take, "who waited")
            assert is_queued.wait(20)
        take("who came back")
        waiting.result(20)
    assert order == ["who waited", "who came back"]


def test_station_is_free_again_after_an_error(workers: SandboxWorkers) -> None:
    for _ in range(2 * len(PROCESSORS)):
        with pytest.raises(ValueError, match="broken"), workers.take():
            raise ValueError("broken")
    with workers.take():
        pass


def test_closing_ends_taken_stations_as_well(workers: SandboxWorkers) -> None:
    with workers.take() as worker:
        workers.close()
        assert isinstance(worker.launcher, Launcher)
        assert worker.launcher.is_closed


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no choice of processors here")
def test_programs_of_a_station_stay_on_its_processor() -> None:
    sandbox = Sandbox()
    source = "import os\ndef f(): return sorted(os.sched_getaffinity(0))"
    [case] = sandbox.run_cases(Program(source=source, function="f"), [[]]).cases
    sandbox.close()
    [processor] = case.value
    assert processor in os.sched_getaffinity(0)

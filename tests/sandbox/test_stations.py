from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest

from poor_bench.sandbox import Program, Sandbox
from poor_bench.sandbox.host import stations as stations_module
from poor_bench.sandbox.host.pipe_launcher import PipeLauncher
from poor_bench.sandbox.host.stations import Stations

PROCESSORS = {2, 5, 7}


class Launcher(PipeLauncher):
    """Remembers its processor and whether it was closed."""

    def __init__(self, processor: int) -> None:
        self.processor = processor
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def stations(monkeypatch: pytest.MonkeyPatch) -> Stations:
    monkeypatch.setattr(stations_module, "_processors", lambda: PROCESSORS)
    return Stations(Launcher)


def processor_of(station: stations_module.Station) -> int:
    assert isinstance(station.launcher, Launcher)
    return station.launcher.processor


def test_one_after_the_other_has_the_same_station(stations: Stations) -> None:
    with stations.take() as first:
        pass
    with stations.take() as second:
        assert second is first


def test_stations_taken_at_once_have_different_processors(stations: Stations) -> None:
    with stations.take() as one, stations.take() as two, stations.take() as three:
        assert {processor_of(one), processor_of(two), processor_of(three)} == PROCESSORS


def test_who_finds_all_stations_taken_waits_for_one(stations: Stations) -> None:
    taken, leave = threading.Barrier(len(PROCESSORS) + 1), threading.Event()

    def hold() -> None:
        with stations.take():
            taken.wait(20)
            leave.wait(20)

    def come_late() -> int:
        with stations.take() as station:
            return processor_of(station)

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

    monkeypatch.setattr(stations_module, "_processors", lambda: {0})
    monkeypatch.setattr(stations_module, "deque", Queue)
    stations = Stations(Launcher)
    order: list[str] = []

    def take(name: str) -> None:
        with stations.take():
            order.append(name)

    with ThreadPoolExecutor(1) as threads:
        with stations.take():
            waiting = threads.submit(take, "who waited")
            assert is_queued.wait(20)
        take("who came back")
        waiting.result(20)
    assert order == ["who waited", "who came back"]


def test_station_is_free_again_after_an_error(stations: Stations) -> None:
    for _ in range(2 * len(PROCESSORS)):
        with pytest.raises(ValueError, match="broken"), stations.take():
            raise ValueError("broken")
    with stations.take():
        pass


def test_closing_ends_taken_stations_as_well(stations: Stations) -> None:
    with stations.take() as station:
        stations.close()
        assert isinstance(station.launcher, Launcher)
        assert station.launcher.is_closed


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no choice of processors here")
def test_programs_of_a_station_stay_on_its_processor() -> None:
    sandbox = Sandbox()
    source = "import os\ndef f(): return sorted(os.sched_getaffinity(0))"
    [case] = sandbox.run_cases(Program(source=source, function="f"), [[]]).cases
    sandbox.close()
    [processor] = case.value
    assert processor in os.sched_getaffinity(0)


def test_processes_do_not_all_begin_with_the_same_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stations_module, "_processors", lambda: PROCESSORS)
    begun = []
    for process in range(len(PROCESSORS)):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        with Stations(Launcher).take() as station:
            begun.append(processor_of(station))
    assert set(begun) == PROCESSORS

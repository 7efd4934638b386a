from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.embedded_engine import (
    LIBRARY_DECIDES,
    Compute,
    EnginePool,
    EngineSettings,
    Generation,
    Piece,
    count_compute_threads,
    count_physical_cores,
    count_quota_cores,
)

SETTINGS = EngineSettings(path=Path("tiny.gguf"), context_tokens=10, slots=1)


class Loaded:
    """Stands in for a model in memory."""

    load_ms = 5.0

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_holders_share_one_engine() -> None:
    pool = EnginePool(Loaded)

    first, load_ms = pool.take(SETTINGS)
    second, again_ms = pool.take(SETTINGS)

    assert first is second
    assert (load_ms, again_ms) == (5.0, 0.0)


def test_engine_is_freed_by_its_last_holder() -> None:
    pool = EnginePool(Loaded)
    first, _ = pool.take(SETTINGS)
    pool.take(SETTINGS)

    pool.give_back(SETTINGS)
    assert not first.is_closed

    pool.give_back(SETTINGS)
    assert first.is_closed


def test_freed_engine_is_loaded_anew() -> None:
    pool = EnginePool(Loaded)
    first, _ = pool.take(SETTINGS)
    pool.give_back(SETTINGS)

    second, load_ms = pool.take(SETTINGS)

    assert second is not first
    assert load_ms == 5.0


def test_other_settings_get_another_engine() -> None:
    pool = EnginePool(Loaded)
    other = EngineSettings(path=SETTINGS.path, context_tokens=20, slots=1)

    assert pool.take(SETTINGS)[0] is not pool.take(other)[0]


def test_failed_load_is_not_remembered() -> None:
    fails = iter([True, False])

    def load(settings: EngineSettings) -> Loaded:
        if next(fails):
            raise ProviderError("no memory", kind=FailureKind.MODEL_NOT_FOUND)
        return Loaded(settings)

    pool = EnginePool(load)
    with pytest.raises(ProviderError):
        pool.take(SETTINGS)

    assert pool.take(SETTINGS)[1] == 5.0


class Started:
    """A generation at work, and when it has ended."""

    def __init__(self, compute: Compute) -> None:
        self.has_ended = threading.Event()
        self.generation = Generation(compute, lambda _: self.has_ended.set())
        self.generation.start()

    def pieces(self, check: Callable[[], None] = lambda: None) -> Iterator[Piece]:
        return self.generation.pieces(check)


def counting(numbers: Iterator[int]) -> Compute:
    def compute(take: Callable[[Piece], bool]) -> None:
        for number in numbers:
            if take({"number": number}):
                return

    return compute


def test_pieces_come_in_order() -> None:
    started = Started(counting(iter(range(3))))

    assert list(started.pieces()) == [{"number": 0}, {"number": 1}, {"number": 2}]


def test_refusal_reaches_whoever_asked() -> None:
    def refuse(take: Callable[[Piece], bool]) -> None:
        raise ProviderError("senseless", kind=FailureKind.BAD_REQUEST)

    with pytest.raises(ProviderError, match="senseless"):
        list(Started(refuse).pieces())


def test_stopping_ends_the_computation() -> None:
    started = Started(counting(count()))

    started.generation.stop()

    assert started.has_ended.wait(10)


def test_cancelled_run_does_not_wait_for_a_busy_engine() -> None:
    may_go_on = threading.Event()

    def cancelled() -> None:
        raise RunCancelledError("the run was stopped")

    started = Started(lambda take: may_go_on.wait() and None)
    with pytest.raises(RunCancelledError):
        list(started.pieces(cancelled))

    assert not started.has_ended.is_set()
    may_go_on.set()


def test_abandoned_generation_tells_whoever_waits() -> None:
    may_go_on = threading.Event()
    started = Started(lambda take: may_go_on.wait() and None)

    started.generation.abandon()

    with pytest.raises(RunCancelledError, match="unloaded"):
        list(started.pieces())
    may_go_on.set()


def test_joining_waits_for_the_end() -> None:
    started = Started(counting(iter(range(1000))))

    started.generation.join(10)

    assert started.has_ended.is_set()


def write_topology(folder: Path, siblings: list[str]) -> Path:
    for cpu, together in enumerate(siblings):
        topology = folder / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{together}\n")
    return folder


def test_two_threads_of_a_core_count_once(tmp_path: Path) -> None:
    topology = write_topology(tmp_path, ["0,2", "1,3", "0,2", "1,3"])

    assert count_physical_cores(range(4), topology) == 2


def test_only_cores_of_this_process_count(tmp_path: Path) -> None:
    topology = write_topology(tmp_path, ["0,2", "1,3", "0,2", "1,3"])

    assert count_physical_cores({0, 2}, topology) == 1


def test_unknown_topology_counts_every_logical_core(tmp_path: Path) -> None:
    assert count_physical_cores({0, 1, 5}, tmp_path) == 3


@pytest.mark.parametrize(
    ("content", "cores"),
    [
        ("200000 100000", 2),
        ("150000 100000", 1),
        ("50000 100000", 1),
        ("max 100000", sys.maxsize),
        ("nonsense", sys.maxsize),
    ],
)
def test_quota_of_a_container_counts_whole_cores(tmp_path: Path, content: str, cores: int) -> None:
    limit = tmp_path / "cpu.max"
    limit.write_text(f"{content}\n")

    assert count_quota_cores(limit) == cores


def test_no_quota_is_no_limit(tmp_path: Path) -> None:
    assert count_quota_cores(tmp_path / "cpu.max") == sys.maxsize


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which cores are withheld")
def test_this_machine_has_at_most_its_logical_cores() -> None:
    assert 1 <= count_compute_threads() <= (os.cpu_count() or 1)


def test_other_systems_leave_it_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert count_compute_threads() == LIBRARY_DECIDES

"""Work that other processes do, as if it were done here."""

from __future__ import annotations

import math
import mmap
import os
import platform
from pathlib import Path

import numpy as np
import psutil
import pytest

from poor_bench import processes
from poor_bench.processes import note_changes, release_pages, return_memory, share

FEW = 20


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "count_processors", lambda: 2)


def list_children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def test_results_come_in_the_order_of_their_tasks() -> None:
    assert [*share(math.factorial, range(FEW))] == [math.factorial(n) for n in range(FEW)]


def test_the_work_is_done_elsewhere_and_processes_end() -> None:
    before = list_children()
    found = {*share(eval, ["__import__('os').getpid()"] * FEW)}
    assert found
    assert os.getpid() not in found
    assert list_children() == before


def test_an_error_is_that_of_the_task() -> None:
    with pytest.raises(ValueError, match="math domain error"):
        [*share(math.sqrt, [4.0, -1.0])]


def test_what_a_dead_process_leaves_is_done_here() -> None:
    dies = f"__import__('os').getpid() == {os.getpid()} or __import__('os')._exit(1)"
    assert [*share(eval, [dies] * FEW)] == [True] * FEW


def test_work_that_cannot_be_sent_is_done_here() -> None:
    assert [*share(lambda number: number + 1, range(FEW))] == [*range(1, FEW + 1)]


def test_whoever_stops_early_leaves_no_process() -> None:
    before = list_children()
    results = share(abs, range(-FEW, 0))
    assert next(results) == FEW
    results.close()
    assert list_children() == before


def test_one_task_at_most_waits_while_each_process_has_one() -> None:
    taken: list[int] = []
    results = share(abs, (taken.append(number) or number for number in range(FEW)))
    assert next(results) == 0
    assert taken == [0, 1, 2]
    results.close()


def test_one_processor_does_it_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "count_processors", lambda: 1)
    assert [*share(eval, ["__import__('os').getpid()"])] == [os.getpid()]


def test_what_work_prints_does_not_mix_with_results() -> None:
    assert [*share(eval, ["print('x') or 5", "7"])] == [5, 7]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries differ")
def test_memory_between_what_is_in_use_goes_back() -> None:
    blocks = [bytearray(4_000) for _ in range(20_000)]
    last = blocks[-1]
    before = psutil.Process().memory_info().rss
    blocks.clear()

    return_memory()

    assert before - psutil.Process().memory_info().rss > 40_000_000
    assert len(last) == 4_000


@pytest.mark.parametrize("access", [mmap.ACCESS_READ, mmap.ACCESS_COPY])
def test_what_was_written_to_pages_stays_when_others_are_released(
    tmp_path: Path, access: int
) -> None:
    path = tmp_path / "column"
    path.write_bytes(np.arange(5 * mmap.PAGESIZE // 8, dtype=np.int64).tobytes())
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=access)
    column = np.frombuffer(mapped, np.int64, offset=64)
    before = column.copy()
    if access == mmap.ACCESS_COPY:
        changed = np.array([0, len(column) // 2, len(column) - 1])
        column[changed[:2]] = before[changed[:2]] = -7
        release_pages([column])  # nothing is noted: all of it stays
        assert np.array_equal(column, before)
        note_changes(column, changed)
        column[changed[2]] = before[changed[2]] = -9
    release_pages([column[3:], np.zeros(3), column])
    assert np.array_equal(column, before)

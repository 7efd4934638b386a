from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from poor_bench.providers.embedded_engine import (
    LIBRARY_DECIDES,
    n_compute_threads,
    physical_cores,
    quota_cores,
)


def write_topology(folder: Path, siblings: list[str]) -> Path:
    for cpu, together in enumerate(siblings):
        topology = folder / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{together}\n")
    return folder


def test_two_threads_of_a_core_count_once(tmp_path: Path) -> None:
    topology = write_topology(tmp_path, ["0,2", "1,3", "0,2", "1,3"])

    assert physical_cores(range(4), topology) == 2


def test_only_cores_of_this_process_count(tmp_path: Path) -> None:
    topology = write_topology(tmp_path, ["0,2", "1,3", "0,2", "1,3"])

    assert physical_cores({0, 2}, topology) == 1


def test_unknown_topology_counts_every_logical_core(tmp_path: Path) -> None:
    assert physical_cores({0, 1, 5}, tmp_path) == 3


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

    assert quota_cores(limit) == cores


def test_no_quota_is_no_limit(tmp_path: Path) -> None:
    assert quota_cores(tmp_path / "cpu.max") == sys.maxsize


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which cores are withheld")
def test_this_machine_has_at_most_its_logical_cores() -> None:
    assert 1 <= n_compute_threads() <= (os.cpu_count() or 1)


def test_other_systems_leave_it_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert n_compute_threads() == LIBRARY_DECIDES

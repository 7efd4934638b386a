"""How many threads an embedded model computes with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

LIBRARY_DECIDES = -1
"""llama.cpp's own choice: the physical cores of the machine."""


def n_compute_threads() -> int:
    """Return one thread per physical core that this process may use.

    llama.cpp itself counts all cores of the machine, also those that a container or `taskset`
    withholds, and is many times slower with more threads than cores. Only Linux tells more.
    """
    if sys.platform != "linux":
        return LIBRARY_DECIDES
    cores = physical_cores(os.sched_getaffinity(0), Path("/sys/devices/system/cpu"))
    return max(1, min(cores, quota_cores(Path("/sys/fs/cgroup/cpu.max"))))


def physical_cores(cpus: Iterable[int], topology: Path) -> int:
    """Return on how many physical cores the given logical ones lie.

    Args:
        cpus: Numbers of logical cores.
        topology: Folder with one folder `cpuN` each.

    Source:
        Linux, Documentation/ABI/stable/sysfs-devices-system-cpu.
    """
    return len({_siblings(topology / f"cpu{cpu}" / "topology", cpu) for cpu in cpus})


def quota_cores(limit: Path) -> int:
    """Return how many whole cores a container's quota amounts to, a very large number without one.

    Source:
        Linux, Documentation/admin-guide/cgroup-v2.rst, cpu.max: quota and period in microseconds.
    """
    try:
        quota, period = limit.read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return sys.maxsize


def _siblings(topology: Path, cpu: int) -> str:
    try:
        return (topology / "thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)

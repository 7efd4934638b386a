"""The kernel's limits on what a process uses."""

from __future__ import annotations

import mmap

from poor_bench.sandbox.limits import Limits

_MAX_USER_PROCESSES = 1024
"""All processes of the user, those outside the sandbox included."""


def limit_resources(limits: Limits, cpu_s: int, *, may_fork: bool) -> None:
    """Limit this process for good.

    Args:
        limits: What it may use.
        cpu_s: CPU seconds after which the kernel ends it.
        may_fork: Whether nothing else keeps it from forking.
    """
    import resource  # not on Windows

    wanted = [
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ]
    if may_fork:
        wanted.append((resource.RLIMIT_NPROC, _MAX_USER_PROCESSES))
    for kind, amount in wanted:
        hard = resource.getrlimit(kind)[1]
        allowed = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(kind, (allowed, allowed))


def require_memory_limit(limits: Limits) -> None:
    """Make sure that the kernel keeps the limit for memory, which some only store.

    Raises:
        OSError: If it does not.
    """
    try:
        mmap.mmap(-1, limits.memory_bytes + 1).close()
    except OSError:
        return
    raise OSError(0, "the kernel does not keep the limit for memory")

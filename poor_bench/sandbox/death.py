"""Why a child died."""

from __future__ import annotations

import signal

from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.outcomes import Exit

_KILLED = -9
_LEAST_SHARE = 0.5
"""Of the limit that is certainly used: the kernel counts whole clock ticks, and reports time."""


def ran_out_of_cpu(end: Exit, cpu_s: int) -> bool:
    """Return whether the kernel killed a child for its use of CPU time."""
    is_far_in_use = end.cpu_s >= cpu_s * _LEAST_SHARE
    return end.status == _KILLED and is_far_in_use and not end.had_too_many_tasks


def was_killed(end: Exit, cpu_s: int) -> bool:
    """Return whether a child was killed, and not for its use of CPU time or its many tasks.

    That may have been the program itself, or something outside, such as a system without memory.
    """
    is_explained = end.had_too_many_tasks or ran_out_of_cpu(end, cpu_s)
    return end.status == _KILLED and not is_explained


def describe_exit(end: Exit) -> str:
    """Return how a process ended, as the end of a sentence.

    Example:
        >>> describe_exit(Exit(status=3, cpu_s=0.1))
        'exited with code 3'
    """
    if end.had_too_many_tasks:
        return f"was killed: it had more than {Limits().tasks} threads and processes"
    if end.status >= 0:
        return f"exited with code {end.status}"
    if end.status == _KILLED:
        return "was killed"
    try:
        return f"was killed by {signal.Signals(-end.status).name}"
    except ValueError:
        return f"was killed by signal {-end.status}"

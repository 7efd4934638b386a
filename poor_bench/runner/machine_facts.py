"""What is to be known of the machine that a run measured times on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_BYTES_PER_GB = 1024**3
_ASKING_S = 2.0


def machine_facts() -> dict[str, Any]:
    """Return system, architecture, processor, cores and memory of this machine.

    Returns:
        `cores` is how many logical cores this process may use; `memory_gb` is rounded to whole
        gibibytes. What the system does not tell is None or empty.
    """
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_gb": _memory_gb(),
    }


def cpu_model_in(cpuinfo: str) -> str:
    r"""Return the processor's name in the text of Linux's `/proc/cpuinfo`, or an empty string.

    Example:
        >>> cpu_model_in("processor : 0\nmodel name\t: Some CPU @ 2.0GHz\n")
        'Some CPU @ 2.0GHz'
    """
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "Hardware"}:
            return value.strip()
    return ""


def _cpu_model() -> str:
    system = platform.system()
    if system == "Linux":
        try:
            return cpu_model_in(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        except OSError:
            return ""
    if system == "Darwin":
        return _answer_of(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"])
    return platform.processor()


def _answer_of(command: list[str]) -> str:
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASKING_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.strip()


def _usable_cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _memory_gb() -> int | None:
    try:
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    return round(n_bytes / _BYTES_PER_GB)

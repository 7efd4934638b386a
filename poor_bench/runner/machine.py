"""Facts of this machine, which every run keeps."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_BYTES_PER_GB = 1024**3
_ASKING_S = 2.0


def collect_machine_facts() -> dict[str, Any]:
    """Describe this machine: system, architecture, processor, cores and memory.

    Returns:
        `cores` is how many logical cores this process may use; `memory_gb` is rounded to whole
        gibibytes; `gpu` names NVIDIA GPUs only. What the system does not tell is None or empty.
    """
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_gb": _memory_gb(),
        "gpu": _gpu_models(),
    }


def find_cpu_model(cpuinfo: str) -> str:
    r"""Find the processor's name in the text of Linux's `/proc/cpuinfo`; empty if it is missing.

    Example:
        >>> find_cpu_model("processor : 0\nmodel name\t: Some CPU @ 2.0GHz\n")
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
            return find_cpu_model(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        except OSError:
            return ""
    if system == "Darwin":
        return _read_answer(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"])
    return platform.processor()


def _read_answer(command: list[str]) -> str:
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASKING_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.strip()


def _gpu_models() -> str:
    """Name the NVIDIA GPUs, such as `NVIDIA L4, NVIDIA L4`; empty if their driver does not tell."""
    names = _read_answer(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return ", ".join(name.strip() for name in names.splitlines())


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

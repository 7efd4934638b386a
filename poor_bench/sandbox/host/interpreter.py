"""How interpreters of the sandbox are started: without this process's environment or state."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROJECT = Path(__file__).parents[3]
_START = """
import sys, types
sys.path.insert(0, sys.argv[1])
package = types.ModuleType("poor_bench.sandbox")
package.__path__ = [sys.argv[1] + "/poor_bench/sandbox"]
sys.modules[package.__name__] = package
from poor_bench.sandbox.inside.{module} import main
main(*sys.argv[2:])
"""
"""Imports one part of the package without the rest: what is not there need not be forked."""
_NEEDED_TO_START = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # the same order of sets every time, so that the same program gets the same score
    "PYTHONHASHSEED": "0",
    # resolve all symbols once, and not again in every child
    "LD_BIND_NOW": "1",
    # the C library and numerical ones reserve memory for each thread
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def interpreter_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main` of a module in `poor_bench.sandbox.inside`."""
    start = _START.format(module=module)
    return [sys.executable, "-s", "-P", "-c", start, str(_PROJECT), *arguments]


def clean_environment() -> dict[str, str]:
    """Return all that interpreters of the sandbox find in their environment."""
    needed = {name: os.environ[name] for name in _NEEDED_TO_START if name in os.environ}
    return {**_ENVIRONMENT, **needed}

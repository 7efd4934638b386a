"""Programs of ours in copies of a process that has imported them: imports are most of a start."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from poor_bench.providers import embedded_engine

PROJECT = Path(__file__).parents[1]
_IMPORTED = [
    "poor_bench.cli.dashboard",
    "poor_bench.cli.run",
    "poor_bench.dashboard.app",
    "poor_bench.dashboard.pages.registry",
    "poor_bench.dashboard.services.services",
    "poor_bench.dashboard.web.server",
    "poor_bench.results.database",
    "flask_compress",
    "plotly.graph_objects",
    "yaml",
]


def start(program: Callable[..., object], *arguments: Any) -> ForkServerProcess:
    """Run a function of a module in a process of its own, in the folder of the project."""
    process = _context().Process(target=_run, args=(program, dict(os.environ), arguments))
    process.start()
    return process


def run(program: Callable[..., object], *arguments: Any) -> int | None:
    """Wait for such a process and return its exit code, or minus the signal that ended it."""
    process = start(program, *arguments)
    process.join()
    code = process.exitcode
    process.close()
    return code


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    with chdir(PROJECT):  # where it looks for modules
        forkserver.ensure_running()
    return context


def _run(
    program: Callable[..., object], environment: dict[str, str], arguments: tuple[Any, ...]
) -> None:
    os.chdir(PROJECT)
    os.environ.clear()
    os.environ.update(environment)
    embedded_engine.count_compute_threads = lambda: 1  # as in `one_thread_for_models`
    program(*arguments)

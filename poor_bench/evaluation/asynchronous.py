"""The public functions: what is done in threads elsewhere, for callers with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from poor_bench.evaluation.events import SuiteEvent
from poor_bench.evaluation.models import EvalSuite, EvalSuiteResult
from poor_bench.evaluation.report import write_report
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.evaluation.suite_file import read_suite
from poor_bench.runner.control import RunControl


async def load_suite(path: Path | str, data_dir: Path | str = "data") -> EvalSuite:
    """Read and check a suite file.

    Args:
        path: A YAML file.
        data_dir: Folder of the workspace, where playbooks are looked up.

    Raises:
        ConfigError: With every problem of the file, each with its case and line.
    """
    return await asyncio.to_thread(read_suite, Path(path), Path(data_dir))


async def run_suite(
    suite: EvalSuite,
    options: SuiteOptions | None = None,
    listener: Callable[[SuiteEvent], None] = lambda _event: None,
) -> EvalSuiteResult:
    """Run all cases of a suite; cancelling the task stops the run, and keeps what is finished.

    Args:
        suite: What to run.
        options: Workspace, LLM, trials at once; the workspace `data` by default.
        listener: Told what goes on, from other threads, one event at a time.

    Raises:
        ConfigError: If an LLM that is named is not there.
        StoreError: If the run could not be stored.
    """
    control = RunControl()
    running = asyncio.ensure_future(
        asyncio.to_thread(run_suite_now, suite, options, listener, control)
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        control.cancel()
        await running
        raise


async def write_suite_report(report: EvalSuiteResult, path: Path | str) -> None:
    """Write a report as JSON, whole or not at all; folders on the way are made.

    Raises:
        ConfigError: If it cannot be written; what was there before is untouched.
    """
    await asyncio.to_thread(write_report, report, path)

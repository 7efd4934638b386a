"""Suites of cases for computer-using agents.

```python
from poor_bench.evaluation import load_suite, run_suite, write_suite_report

suite = await load_suite("poor_bench/evaluation/suites/example.yaml")
report = await run_suite(suite)
await write_suite_report(report, "output/evals/report.json")
```
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from poor_bench.evaluation.models import (
    EvalCase,
    EvalCaseResult,
    EvalSuite,
    EvalSuiteResult,
    EvalTrialResult,
    Expectations,
)
from poor_bench.evaluation.runner import SuiteEvent, SuiteOptions, run_suite_now
from poor_bench.evaluation.suite_file import read_suite
from poor_bench.pool.control import RunControl

__all__ = [
    "EvalCase",
    "EvalCaseResult",
    "EvalSuite",
    "EvalSuiteResult",
    "EvalTrialResult",
    "Expectations",
    "SuiteOptions",
    "load_suite",
    "run_suite",
    "write_suite_report",
]


async def load_suite(path: Path | str, data_dir: Path | str = "data") -> EvalSuite:
    """Read and check a suite file.

    Args:
        path: A YAML file.
        data_dir: Folder of the workspace, which holds playbooks.

    Raises:
        ConfigError: With every problem of the file, each with its case and line. A missing
            playbook is not one of them: its case could not be run.
    """
    return await asyncio.to_thread(read_suite, Path(path), Path(data_dir))


async def run_suite(
    suite: EvalSuite,
    options: SuiteOptions | None = None,
    listener: Callable[[SuiteEvent], None] = lambda _event: None,
) -> EvalSuiteResult:
    """Run all cases of a suite; cancelling the task stops the run and keeps finished trials.

    Args:
        suite: Suite to run.
        options: Workspace, LLM and parallel trials; the workspace `data` by default.
        listener: Called with every event, from other threads, one at a time.

    Raises:
        ConfigError: If a named LLM does not exist.
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
    """Write a report as JSON, atomically; missing folders are created.

    Raises:
        ConfigError: If it cannot be written; the old file stays untouched.
    """
    from poor_bench.evaluation.reports import write_report  # HTML and JUnit, which few need

    await asyncio.to_thread(write_report, report, path)

"""Run a sweep: variants, race, ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.runner.events import RunEvent
from poor_bench.runs.history import new_run_id
from poor_bench.tuning.assembly import Assembly
from poor_bench.tuning.kept_searches import read_search
from poor_bench.tuning.params.axes import Axis
from poor_bench.tuning.params.grid_search import grid_variants, run_grid
from poor_bench.tuning.params.optuna_search import require_optuna, run_optuna
from poor_bench.tuning.params.race import SweepTools
from poor_bench.tuning.params.report import ParamsReport, kept_report
from poor_bench.tuning.params.rungs import rungs_of
from poor_bench.tuning.params.standing import standings
from poor_bench.tuning.params.sweep import Sweep
from poor_bench.tuning.params.variants import Variant
from poor_bench.tuning.spending import Limits, Spending, limit_money
from poor_bench.tuning.stopping import SearchStoppedError, StopReason
from poor_bench.tuning.tuning_file import TuningFile, tuning_folder
from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamsTask:
    """Task of a sweep."""

    llm: LLM
    name: str
    """Name of the tests, such as the class."""
    tests: Sequence[Test]
    axes: Sequence[Axis]
    limits: Limits
    n_trials: int | None = None
    """Variants that Optuna chooses; None for the whole grid."""
    seed: int = 0


def estimated_cost_usd(task: ParamsTask, config: WorkspaceFolder, manager: LLMManager) -> float:
    """Estimate the cost of a sweep without dropping; 0 without prices.

    Raises:
        ConfigError: If there is nothing to try.
    """
    n_variants = 1 + (len(_checked(task)) if task.n_trials is None else task.n_trials)
    n_tests = n_variants * len(task.tests)
    if task.limits.n_calls is not None:
        n_tests = min(n_tests, task.limits.n_calls)
    parts = Assembly(config, manager, config.workspace)
    return n_tests * parts.cost_per_test_usd(task.llm, task.tests)


def tune_params(
    task: ParamsTask,
    config: WorkspaceFolder,
    manager: LLMManager,
    control: RunControl,
    tell: Callable[[RunEvent], None] = lambda _event: None,
) -> ParamsReport:
    """Run a sweep; blocks until it ends. What it asked is in the results, whatever ends it.

    Raises:
        ConfigError: If there is nothing to try, or a limit cannot be kept.
        StoreError: If something could not be stored.
        MissingExtraError: If Optuna is wanted and not installed.
    """
    variants = _checked(task)
    limit_money(task.limits, manager, [task.llm])
    started = manager.clock.now_iso()
    path = tuning_folder(config.data_dir) / f"{new_run_id(started)}.jsonl"
    rungs = rungs_of(task.tests, task.seed)
    header = {
        "run_id": path.stem,
        "started": started,
        "kind": "params",
        "name": task.name,
        "llm": task.llm.id,
        "axes": [asdict(axis) for axis in task.axes],
        "n_trials": task.n_trials,
        "seed": task.seed,
        "limits": asdict(task.limits),
        "tests": [test.test_id for rung in rungs for test in rung],
    }
    file = TuningFile(path, header)
    spending = Spending(task.limits)
    tools = SweepTools(
        config=config, manager=manager, file=file, spending=spending, control=control, tell=tell
    )
    try:
        _run(task, Sweep(tools, task.llm, rungs), variants, tools)
    finally:
        file.close()
    return kept_report(read_search(path))


def _checked(task: ParamsTask) -> list[Variant]:
    """Build the variants of a grid; none with Optuna."""
    if task.n_trials is None:
        return grid_variants(task.llm, task.axes)
    require_optuna()
    return []


def _run(task: ParamsTask, sweep: Sweep, variants: Sequence[Variant], tools: SweepTools) -> None:
    reason, message = StopReason.FINISHED, ""
    try:
        if task.n_trials is None:
            run_grid(sweep, variants)
        else:
            run_optuna(sweep, task.axes, task.n_trials, task.seed)
    except SearchStoppedError as error:
        reason, message = error.reason, str(error)
    rows = standings(sweep.results, task.llm.id, len(task.tests))
    tools.file.append(
        "end",
        {
            "reason": reason.value,
            "message": message,
            "n_calls": tools.spending.n_calls,
            "cost_usd": tools.spending.cost_usd,
            "standings": [asdict(row) for row in rows],
        },
    )

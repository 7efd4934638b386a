"""Run a sweep over a grid, or over values that Optuna chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from poor_bench.calls.budget import SpendingLimits
from poor_bench.errors import ConfigError, RunCancelledError
from poor_bench.extras import import_extra
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import sum_known
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.runner.events import RunEvent
from poor_bench.tuning.searches import (
    KeptSearch,
    SearchStoppedError,
    SearchTools,
    StopReason,
    TuningFile,
    count_calls,
    find_reason,
    open_budget,
    read_search,
    start_file,
    sum_result_cost,
)
from poor_bench.tuning.sweep import (
    Sweep,
    SweepAxis,
    Variant,
    is_like,
    list_choices,
    make_variant,
    split_into_rungs,
)
from poor_bench.tuning.sweep_ranking import (
    ParamsReport,
    find_best,
    rank_variants,
    read_sweep,
)
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    import optuna


def build_grid_variants(base: LLM, axes: Sequence[SweepAxis]) -> list[Variant]:
    """Build a variant per combination, except those equal to the baseline.

    Raises:
        ConfigError: If there are none, or an axis is a range.
    """
    try:
        made = [make_variant(base, choice) for choice in list_choices(axes)]
    except ValueError as error:
        raise ConfigError(str(error)) from error
    variants = [variant for variant in made if not is_like(variant.llm, base)]
    if not variants:
        raise ConfigError("all combinations equal the model's current parameters")
    return variants


def run_grid(sweep: Sweep, variants: Sequence[Variant]) -> None:
    """Race the variants; losers are dropped after each step.

    Raises:
        SearchStoppedError: If it cannot go on.
        StoreError: If something could not be stored.
    """
    for variant in variants:
        sweep.add(variant)
    running = [sweep.base, *variants]
    for rung in sweep.rungs:
        running = sweep.drop_losers(sweep.advance(running, rung))


_DECIMALS = 3


def run_optuna(sweep: Sweep, axes: Sequence[SweepAxis], n_trials: int, seed: int) -> None:
    """Run variants chosen by Optuna's tree-structured Parzen estimator.

    Raises:
        SearchStoppedError: If it cannot go on.
        StoreError: If something could not be stored.

    Source:
        Bergstra et al. 2011, "Algorithms for Hyper-Parameter Optimization", NIPS 24.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for rung in sweep.rungs:
        sweep.advance([sweep.base], rung)
    for _ in range(n_trials):
        trial = study.ask()
        variant = _find_variant(sweep, {axis.name: _suggest(trial, axis) for axis in axes})
        if variant.id not in sweep.variants:
            sweep.add(variant)
            _run_alone(sweep, variant, trial)
        if sweep.is_whole(variant.id):
            study.tell(trial, fmean(sweep.scores(variant.id).values()))
        else:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def _find_variant(sweep: Sweep, choice: dict[str, Any]) -> Variant:
    variant = make_variant(sweep.base.llm, choice)
    return sweep.base if is_like(variant.llm, sweep.base.llm) else variant


def _run_alone(sweep: Sweep, variant: Variant, trial: optuna.Trial) -> None:
    """Run a variant until it is significantly behind, or fails."""
    whole = {name: sweep.scores(name) for name in sweep.variants if sweep.is_whole(name)}
    best = find_best(whole)
    rivals = [sweep.variants[best]] if best is not None else []
    n_run = 0
    for rung in sweep.rungs:
        if not sweep.advance([variant], rung):
            return
        n_run += len(rung)
        trial.report(fmean(sweep.scores(variant.id).values()), n_run)
        if variant not in sweep.drop_losers([*rivals, variant]):
            return


def _suggest(trial: optuna.Trial, axis: SweepAxis) -> Any:
    if not axis.is_range:
        places = list(range(len(axis.values)))
        return axis.values[trial.suggest_categorical(axis.name, places)]
    assert axis.low is not None
    assert axis.high is not None
    if axis.is_whole:
        return trial.suggest_int(axis.name, int(axis.low), int(axis.high))
    return round(trial.suggest_float(axis.name, axis.low, axis.high), _DECIMALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamsTask:
    """Task of a sweep."""

    llm: LLM
    name: str
    """Name of the tests, such as the class."""
    tests: Sequence[Test]
    axes: Sequence[SweepAxis]
    limits: SpendingLimits
    n_trials: int | None = None
    """Variants that Optuna chooses; None for the whole grid."""
    seed: int = 0


def count_trials(task: ParamsTask) -> int:
    """Count the trials of a sweep that drops no variant and finds nothing stored: the most it runs.

    Raises:
        ConfigError: If there is nothing to try.
    """
    n_variants = 1 + (len(_build_variants(task)) if task.n_trials is None else task.n_trials)
    n_trials = n_variants * len(task.tests)
    return n_trials if task.limits.n_calls is None else min(n_trials, task.limits.n_calls)


def estimate_cost_usd(
    task: ParamsTask, config: WorkspaceFolder, manager: LLMManager
) -> float | None:
    """Estimate the cost of a sweep without dropping; None where a price is unknown.

    Raises:
        ConfigError: If there is nothing to try.
    """
    runner = WorkspaceRunner(config, manager)
    each = runner.cost_per_test_usd(task.llm, task.tests)
    return None if each is None else count_trials(task) * each


def tune_params(
    task: ParamsTask,
    config: WorkspaceFolder,
    manager: LLMManager,
    control: RunControl,
    tell: Callable[[RunEvent], None] = lambda _event: None,
    resumed: KeptSearch | None = None,
) -> ParamsReport:
    """Run a sweep; blocks until it ends. What it asked is in the results, whatever ends it.

    A resumed sweep goes through all its steps again: stored results are reused, and only tests that
    are missing or failed to run are asked. So variants are chosen and dropped as without the break.

    Args:
        task: What is tried; that of `restore_task` for a resumed sweep.
        config: The workspace.
        manager: Asks the models.
        control: Stops the sweep.
        tell: Hears of every run.
        resumed: A stored sweep to go on with.

    Raises:
        ConfigError: If there is nothing to try, or a limit cannot be kept.
        StoreError: If something could not be stored.
        MissingExtraError: If Optuna is wanted and not installed.
    """
    variants = _build_variants(task)
    spent = _count_spent(resumed, config) if resumed else {}
    budget = open_budget(task.limits, manager, [task.llm], **spent)
    rungs = split_into_rungs(task.tests, task.seed)
    with closing(_open_file(task, rungs, config, manager, resumed)) as file:
        tools = SearchTools(manager=manager, budget=budget, file=file, control=control)
        _run(task, Sweep(config, tools, task.llm, rungs, tell), variants, tools)
    return read_sweep(read_search(file.path))


def _open_file(
    task: ParamsTask,
    rungs: Sequence[Sequence[Test]],
    config: WorkspaceFolder,
    manager: LLMManager,
    resumed: KeptSearch | None,
) -> TuningFile:
    if resumed is not None:
        return TuningFile(resumed.path)
    facts = {
        "kind": "params",
        "name": task.name,
        "llm": task.llm.id,
        "axes": [asdict(axis) for axis in task.axes],
        "n_trials": task.n_trials,
        "seed": task.seed,
        "limits": asdict(task.limits),
        "tests": [test.test_id for rung in rungs for test in rung],
    }
    return start_file(config.data_dir, manager.clock.now_iso(), facts)


def restore_task(search: KeptSearch, config: WorkspaceFolder, limits: SpendingLimits) -> ParamsTask:
    """Rebuild the task of a stored sweep, with its model and tests as they are now.

    Raises:
        ConfigError: If its model, or one of its tests, no longer exists.
    """
    search.require("name", "llm", "tests", "axes", "n_trials", "seed")
    header, workspace = search.header, config.workspace
    gone = [name for name in header["tests"] if name not in workspace.tests_by_id]
    gone += [name for name in (header["llm"],) if name not in workspace.llms_by_id]
    if gone:
        raise ConfigError(
            f"cannot resume {search.run_id}: {gone[0]} no longer exists",
            hint="Start a new search without --resume.",
        )
    return ParamsTask(
        llm=workspace.llms_by_id[header["llm"]],
        name=header["name"],
        tests=[workspace.tests_by_id[name] for name in header["tests"]],
        axes=[SweepAxis(**{**axis, "values": tuple(axis["values"])}) for axis in header["axes"]],
        limits=limits,
        n_trials=header["n_trials"],
        seed=header["seed"],
    )


def _count_spent(search: KeptSearch, config: WorkspaceFolder) -> dict[str, Any]:
    """Count calls and money of a sweep by its stored results, since a killed one counted none."""
    run_ids = {record["run_id"] for record in search.of_kind("rung")}
    results = [result for result in config.store.results() if result.run_id in run_ids]
    return {
        "n_calls": sum(map(count_calls, results)),
        "spent_usd": sum_known(map(sum_result_cost, results)) or 0.0,
    }


def _build_variants(task: ParamsTask) -> list[Variant]:
    """Build the variants of a grid; none with Optuna."""
    if task.n_trials is None:
        return build_grid_variants(task.llm, task.axes)
    import_extra("optuna", "`--search optuna` needs", "optuna>=4.5,<6")
    return []


def _run(task: ParamsTask, sweep: Sweep, variants: Sequence[Variant], tools: SearchTools) -> None:
    reason, message = StopReason.FINISHED, ""
    try:
        if task.n_trials is None:
            run_grid(sweep, variants)
        else:
            run_optuna(sweep, task.axes, task.n_trials, task.seed)
    except (SearchStoppedError, RunCancelledError) as error:
        reason, message = find_reason(error) or StopReason.CANCELLED, str(error)
    tests = {test.test_id: test for test in task.tests}
    rows = rank_variants(sweep.results, task.llm.id, len(tests), tests)
    tools.file.append(
        "end",
        {
            "reason": reason.value,
            "message": message,
            "n_calls": tools.budget.n_calls,
            "cost_usd": tools.budget.spent_usd,
            "dropped": sweep.dropped,
            "standings": [asdict(row) for row in rows],
        },
    )

"""Optuna chooses one variant after the other, each against the best so far."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poor_bench.command_line import python_command
from poor_bench.errors import MissingExtraError
from poor_bench.tuning.params.axes import Axis
from poor_bench.tuning.params.racing import best_of, mean
from poor_bench.tuning.params.sweep import Sweep
from poor_bench.tuning.params.variants import Variant, is_like, variant_of

if TYPE_CHECKING:
    import optuna

_DECIMALS = 3


def require_optuna() -> None:
    """Check that Optuna is installed.

    Raises:
        MissingExtraError: If it is not.
    """
    try:
        importlib.import_module("optuna")
    except ImportError as error:
        raise MissingExtraError(
            "`--search optuna` needs the package optuna",
            hint=python_command("-m pip install", "optuna>=4.5,<6"),
        ) from error


def run_optuna(sweep: Sweep, axes: Sequence[Axis], n_trials: int, seed: int) -> None:
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
        variant = _variant(sweep, {axis.name: _suggested(trial, axis) for axis in axes})
        if variant.id not in sweep.variants:
            sweep.add(variant)
            _run_alone(sweep, variant, trial)
        if sweep.is_whole(variant.id):
            study.tell(trial, mean(sweep.scores(variant.id)))
        else:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def _variant(sweep: Sweep, choice: dict[str, Any]) -> Variant:
    variant = variant_of(sweep.base.llm, choice)
    return sweep.base if is_like(variant.llm, sweep.base.llm) else variant


def _run_alone(sweep: Sweep, variant: Variant, trial: optuna.Trial) -> None:
    """Run a variant until it is significantly behind, or fails."""
    whole = {name: sweep.scores(name) for name in sweep.variants if sweep.is_whole(name)}
    best = best_of(whole)
    rivals = [sweep.variants[best]] if best is not None else []
    n_run = 0
    for rung in sweep.rungs:
        if not sweep.advance([variant], rung):
            return
        n_run += len(rung)
        trial.report(mean(sweep.scores(variant.id)), n_run)
        if variant not in sweep.drop_losers([*rivals, variant]):
            return


def _suggested(trial: optuna.Trial, axis: Axis) -> Any:
    if not axis.is_range:
        places = list(range(len(axis.values)))
        return axis.values[trial.suggest_categorical(axis.name, places)]
    assert axis.low is not None
    assert axis.high is not None
    if axis.is_whole:
        return trial.suggest_int(axis.name, int(axis.low), int(axis.high))
    return round(trial.suggest_float(axis.name, axis.low, axis.high), _DECIMALS)

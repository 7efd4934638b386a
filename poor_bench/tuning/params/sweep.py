"""The two ways of a sweep: a grid whose variants race, or Optuna's choice one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from poor_bench.errors import ConfigError, MissingExtraError
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.tuning.params.axes import Axis, grid
from poor_bench.tuning.params.race import Race, SweepTools
from poor_bench.tuning.params.racing import Dropped, best_of, losers, mean
from poor_bench.tuning.params.variants import Variant, entry_of, variant_of
from poor_bench.tuning.stopping import SearchStoppedError, StopReason

if TYPE_CHECKING:
    import optuna

_DECIMALS = 3


class Sweep:
    """The variants of one LLM and their race."""

    def __init__(self, tools: SweepTools, base: LLM, rungs: Sequence[Sequence[Test]]) -> None:
        """Prepare a sweep.

        Args:
            tools: What it works with.
            base: The LLM as it is; it runs all tests.
            rungs: The tests in steps.
        """
        self._tools = tools
        self._rungs = rungs
        self._n_tests = sum(len(rung) for rung in rungs)
        self.base = Variant(llm=base, choice={})
        self.race = Race(tools)
        self.variants: dict[str, Variant] = {base.id: self.base}

    def run_grid(self, axes: Sequence[Axis]) -> None:
        """Let all combinations of values race: after each step the losers are dropped.

        Raises:
            ConfigError: If there are no variants, or an axis is a range.
            SearchStoppedError: If it cannot go on.
            StoreError: If something could not be stored.
        """
        try:
            running = [self.base, *filter(None, (self._variant(choice) for choice in grid(axes)))]
        except ValueError as error:
            raise ConfigError(str(error)) from error
        if len(running) < 2:
            raise ConfigError("these parameters are what the LLM has anyway")
        for rung in self._rungs:
            self.race.advance(running, rung)
            running = self._usable(running)
            dropped = self._drop([variant.id for variant in running])
            running = [variant for variant in running if variant.id not in dropped]

    def run_optuna(self, axes: Sequence[Axis], n_trials: int, seed: int) -> None:
        """Let Optuna choose one variant after the other, each against the best so far.

        Raises:
            MissingExtraError: If Optuna is not installed.
            SearchStoppedError: If it cannot go on.
            StoreError: If something could not be stored.
        """
        study = _study(seed)
        for rung in self._rungs:
            self.race.advance([self.base], rung)
            self._usable([self.base])
        for _ in range(n_trials):
            trial = study.ask()
            choice = {axis.name: _suggested(trial, axis) for axis in axes}
            variant = self._variant(choice)
            if variant is not None:
                self._run_alone(variant, trial)
            scores = self.race.scores.get(self._id_of(choice), {})
            if len(scores) == self._n_tests:
                study.tell(trial, mean(scores))
            else:
                study.tell(trial, state=_pruned())

    def _run_alone(self, variant: Variant, trial: optuna.Trial) -> None:
        """Run a variant until it is surely beaten, or cannot be asked."""
        whole = {name: own for name, own in self.race.scores.items() if len(own) == self._n_tests}
        rival = best_of(whole)
        n_run = 0
        for rung in self._rungs:
            self.race.advance([variant], rung)
            n_run += len(rung)
            scores = self.race.scores.get(variant.id, {})
            if not scores:
                return
            trial.report(mean(scores), n_run)
            if rival is not None and self._drop([rival, variant.id]):
                return

    def _usable(self, running: Sequence[Variant]) -> list[Variant]:
        """Return the variants that could be asked.

        Raises:
            SearchStoppedError: If the LLM as it is could not: there is nothing to compare with.
        """
        usable = [variant for variant in running if self.race.scores.get(variant.id)]
        if self.base not in usable:
            why = self.race.unavailable.get(self.base.id, "none of its tests could be scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)
        return usable

    def _variant(self, choice: dict[str, Any]) -> Variant | None:
        """Return a variant that is new; None where the LLM is like that, or it was tried."""
        if self._id_of(choice) in self.variants:
            return None
        variant = variant_of(self.base.llm, choice)
        self.variants[variant.id] = variant
        record = {"id": variant.id, "choice": choice, "entry": entry_of(variant.llm)}
        self._tools.file.append("variant", record)
        return variant

    def _id_of(self, choice: dict[str, Any]) -> str:
        variant = variant_of(self.base.llm, choice)
        asked = variant.llm.parameters, variant.llm.base_system_prompt
        own = self.base.llm.parameters, self.base.llm.base_system_prompt
        return self.base.id if asked == own else variant.id

    def _drop(self, running: Sequence[str]) -> set[str]:
        scores = self.race.scores
        found = losers({name: scores.get(name, {}) for name in running}, kept={self.base.id})
        for dropped in found:
            self._tools.file.append("dropped", _dropped_record(dropped))
        return {dropped.variant_id for dropped in found}


def _dropped_record(dropped: Dropped) -> dict[str, Any]:
    return {
        "id": dropped.variant_id,
        "leader": dropped.leader_id,
        "behind": asdict(dropped.behind),
    }


def _study(seed: int) -> optuna.Study:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError(
            "`--search optuna` needs the package optuna", hint="pip install 'optuna>=4.5'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))


def _pruned() -> Any:
    import optuna

    return optuna.trial.TrialState.PRUNED


def _suggested(trial: optuna.Trial, axis: Axis) -> Any:
    if not axis.is_range:
        places = list(range(len(axis.values)))
        return axis.values[trial.suggest_categorical(axis.name, places)]
    assert axis.low is not None
    assert axis.high is not None
    if axis.is_whole:
        return trial.suggest_int(axis.name, int(axis.low), int(axis.high))
    return round(trial.suggest_float(axis.name, axis.low, axis.high), _DECIMALS)

"""`gate --sequential`: run trials until the questions about regressions are decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from poor_bench.cli.context import AppContext
from poor_bench.errors import ConfigError
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.gates.check import Evidence
    from poor_bench.gates.gate import Gate, GateOutcome
    from poor_bench.gates.plan import Decided, OpenQuestion, SequentialStop
    from poor_bench.pool.control import RunControl
    from poor_bench.runner.selection import Selection
    from poor_bench.workspace_runner import WorkspaceRunner

_MOVING = frozenset({"now", "last", "previous", "before:last", "before:previous"})
"""Baselines that stand for other results as soon as a run is stored."""


class SequentialLimits(NamedTuple):
    """Where a sequential check ends without a decision."""

    n_trials: int
    """Trials per test that the baseline does not have."""
    n_calls: int | None
    """Requests to the models; None for no limit."""
    cost_usd: float | None
    """None for no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCheck:
    """What a sequential check came to."""

    outcomes: Sequence[GateOutcome]
    """A question that is decided keeps the outcome of the look that decided it."""
    reason: SequentialStop
    n_looks: int
    """Looks at the results."""
    n_calls: int
    cost_usd: float

    @property
    def is_cancelled(self) -> bool:
        """True if it was interrupted."""
        from poor_bench.gates.plan import SequentialStop

        return self.reason is SequentialStop.CANCELLED

    @property
    def text(self) -> str:
        """Describe the end in one sentence."""
        looks, calls = write_count(self.n_looks, "look"), write_count(self.n_calls, "request")
        return f"Stopped after {looks} and {calls}: {self.reason.text}."

    def as_dict(self) -> dict[str, Any]:
        """Describe it for machines."""
        return {
            "stopped_by": self.reason.value,
            "n_looks": self.n_looks,
            "n_calls": self.n_calls,
            "cost_usd": self.cost_usd,
        }


def run_until_decided(
    app: AppContext,
    selection: Selection,
    gates: Sequence[Gate],
    pass_score: float,
    limits: SequentialLimits,
    *,
    quiet: bool,
) -> EndedCheck:
    """Run one more trial per test of the undecided models, look, and go on until all is decided.

    Trials are stored as those of `run`. What is stored counts, so that a check that was killed goes
    on where it ended.

    Raises:
        ConfigError: If no gate asks for no regression, or a baseline would move with each run.
        StoreError: If a result could not be stored.
    """
    from poor_bench.cli.process import stop_on_signal
    from poor_bench.cli.run import take_turn
    from poor_bench.cli.sandbox import agree_on_sandbox
    from poor_bench.pool.control import RunControl
    from poor_bench.runs.turn import RunTurn
    from poor_bench.workspace_runner import WorkspaceRunner

    _require_fixed_baselines(app, gates)
    runner = WorkspaceRunner(app.config)
    turn = RunTurn(app.store.paths.history)
    try:
        agree_on_sandbox(app, runner.plan(selection).states.tests)
        _limit(runner, selection, limits)
        take_turn(turn, beside=False)
        control = RunControl()
        with stop_on_signal(control):
            check = SequentialCheck(app, runner, selection, gates, pass_score, limits, quiet)
            return check.run(control)
    finally:
        runner.close()
        turn.give_back()


class SequentialCheck:
    """Rounds of one trial per test, with a look at the results after each."""

    def __init__(
        self,
        app: AppContext,
        runner: WorkspaceRunner,
        selection: Selection,
        gates: Sequence[Gate],
        pass_score: float,
        limits: SequentialLimits,
        quiet: bool,
    ) -> None:
        self._app = app
        self._runner = runner
        self._selection = selection
        self._gates = gates
        self._pass_score = pass_score
        self._limits = limits
        self._quiet = quiet
        self._n_looks = 0
        self._decided: Decided = {}

    def run(self, control: RunControl) -> EndedCheck:
        """Run rounds until the check is decided, or must end."""
        from poor_bench.gates.plan import (
            SequentialStop,
            are_all_decided,
            find_open_questions,
        )

        pending, number = self._selection, 1
        while True:
            reason = self._run_round(replace(pending, trials=number), control)
            evidence, outcomes = self._look(number)
            questions = find_open_questions(outcomes, evidence)
            self._tell(number, questions)
            going_on = [it for it in questions if it.may_go_on(number, self._limits.n_trials)]
            if are_all_decided(outcomes):
                reason = SequentialStop.DECIDED
            if reason is None and not going_on:
                reason = _find_end(questions)
            if reason is not None:
                return self._end(outcomes, reason)
            pending, number = _select_tests(self._selection, going_on), number + 1

    def _run_round(self, selection: Selection, control: RunControl) -> SequentialStop | None:
        """Ask what is pending; return why no further round may follow, if so."""
        from poor_bench.cli.run_view import open_run_view
        from poor_bench.gates.plan import SequentialStop

        plan = self._runner.plan(selection)
        if plan.is_empty:
            return None
        budget = self._runner.manager.budget
        n_left = budget.n_calls_left if budget else None
        if n_left is not None and plan.n_items > n_left:
            return SequentialStop.CALLS
        with open_run_view(self._runner.workspace, quiet=self._quiet) as view:
            finished = self._runner.run(plan, view, control)
        if budget is not None:
            budget.count_calls(plan.n_items - finished.n_skipped)
            if budget.is_reached:
                return SequentialStop.COST
        if finished.cancelled:
            return SequentialStop.CANCELLED
        return SequentialStop.FAILED if plan.n_items and not finished.n_scored else None

    def _look(self, number: int) -> tuple[Evidence, list[GateOutcome]]:
        from poor_bench.cli.evidence import gather_evidence
        from poor_bench.gates.check import check_gates
        from poor_bench.gates.plan import keep_decided

        self._n_looks += 1
        evidence = gather_evidence(
            self._app.config, self._selection, self._gates, self._pass_score, n_trials=number
        )
        return evidence, keep_decided(check_gates(self._gates, evidence), self._decided)

    def _tell(self, number: int, questions: Sequence[OpenQuestion]) -> None:
        if self._quiet:
            return
        for question in questions:
            name = self._app.llm_names.get(question.llm_id, question.llm_id)
            click.echo(f"Trial {number}: {name} undecided: {question.drop.text}", err=True)

    def _end(self, outcomes: Sequence[GateOutcome], reason: SequentialStop) -> EndedCheck:
        budget = self._runner.manager.budget
        return EndedCheck(
            outcomes=outcomes,
            reason=reason,
            n_looks=self._n_looks,
            n_calls=budget.n_calls if budget else 0,
            cost_usd=budget.spent_usd if budget else 0.0,
        )


def _find_end(questions: Sequence[OpenQuestion]) -> SequentialStop:
    """Explain why none of the questions goes on."""
    from poor_bench.gates.plan import SequentialStop

    if not questions:
        return SequentialStop.NOT_COMPARABLE
    if not any(question.can_be_decided for question in questions):
        return SequentialStop.REPEATS
    return SequentialStop.TRIALS


def _select_tests(selection: Selection, questions: Sequence[OpenQuestion]) -> Selection:
    """Select the models and tests of some questions."""
    llms = dict.fromkeys(question.llm_id for question in questions)
    tests = dict.fromkeys(test for question in questions for test in question.test_ids)
    return replace(selection, llms=tuple(llms), tests=tuple(tests))


def _limit(runner: WorkspaceRunner, selection: Selection, limits: SequentialLimits) -> None:
    """Give the manager a budget of calls and money.

    Raises:
        ConfigError: If the cost is limited, and a model that costs money has no prices.
    """
    from poor_bench.calls.budget import Budget, require_prices

    if limits.cost_usd is not None:
        estimate = runner.estimate_cost(runner.plan(replace(selection, force=True)))
        require_prices(estimate.unpriced, runner.manager.is_local)
    cost_usd = inf if limits.cost_usd is None else limits.cost_usd
    runner.manager.budget = Budget(cost_usd, limits.n_calls)


def _require_fixed_baselines(app: AppContext, gates: Sequence[Gate]) -> None:
    from poor_bench.gates.gate import GateKind

    baselines = [gate.baseline for gate in gates if gate.kind is GateKind.NO_REGRESSION]
    if not baselines:
        raise ConfigError(
            "--sequential decides about regressions only",
            hint="give --no-regression --baseline FILE, or `no_regression: true` in gates.yaml",
        )
    present = app.store.paths.snapshot.resolve()
    for baseline in baselines:
        if baseline in _MOVING or Path(baseline).resolve() == present:
            raise ConfigError(
                f"--sequential stores new results, so {baseline!r} would not stay the same",
                hint="give the id of a run (see `runs`) or a file made by `report --output`",
            )

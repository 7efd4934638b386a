"""Run a suite: all trials of all selected cases, in parallel, each stored as soon as it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from poor_bench import __version__
from poor_bench.calls.budget import Budget, require_prices
from poor_bench.config.load import load_known_llms
from poor_bench.config.names import find_llm, make_unknown_llm_error
from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import AgentServices, Step
from poor_bench.evaluation.factories import make_up_credentials
from poor_bench.evaluation.models import EvalCase, EvalSuite, EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.profiles import Profiles
from poor_bench.evaluation.stored_run import SuiteRun, SuiteRunWriter, judge_trials, write_suite_run
from poor_bench.evaluation.trial_run import SuiteTrialPlan, TrialRunner
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.runs.history import make_run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStarted:
    """A run starts."""

    run_id: str
    suite: str
    n_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """A trial starts."""

    case_id: str
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """A step is done and stored."""

    case_id: str
    trial: int
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTrialFinished:
    """A trial is judged or could not be run, and is stored."""

    result: EvalTrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFinished:
    """The run is finished, or was stopped."""

    report: EvalSuiteResult


SuiteEvent = SuiteStarted | TrialStarted | StepDone | SuiteTrialFinished | SuiteFinished


def choose_llms(suite: EvalSuite, data_dir: Path, wanted: str | None) -> dict[str, LLM | None]:
    """Choose the LLM of every case, by the case's id.

    `wanted` precedes the case's own `llm`, and that the suite's. Without a name it is the suite's
    first LLM, else the first that is enabled in llms.json. Cases that only a playbook carries out
    have None, as have all cases where no LLM exists.

    Args:
        suite: Its LLMs precede those of the workspace.
        data_dir: Folder of the workspace.
        wanted: LLM id for all cases; None for the choice of the suite.

    Raises:
        ConfigError: If a named LLM does not exist, or llms.json has an error.
    """
    known = (*suite.llms, *load_known_llms(data_dir))
    default = next((llm for llm in known if llm.enabled), None)
    chosen: dict[str, LLM | None] = {case.id: None for case in suite.cases}
    for case in suite.cases:
        if case.execution_mode != "playbook_only":
            chosen[case.id] = _choose(case, suite, known, wanted) or default
    return chosen


def _choose(
    case: EvalCase, suite: EvalSuite, known: Sequence[LLM], wanted: str | None
) -> LLM | None:
    name = wanted or case.llm or suite.llm
    if name is None:
        return None
    found = find_llm(name, known)
    if found is None:
        hint = make_unknown_llm_error(name, known).hint
        raise ConfigError(f"case {case.id}: LLM `{name}` does not exist", hint=hint)
    return found


Listener = Callable[[SuiteEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """Options of a run."""

    data_dir: Path = Path("data")
    """Folder of the workspace: LLMs, playbooks, stored runs."""
    llm_id: str | None = None
    """LLM of all cases; by default the one that the suite names."""
    parallel: int = 1
    """Parallel trials, at least 1."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """Source of credentials and keys."""
    max_cost_usd: float | None = None
    """Most US dollars to spend on models; trials that would exceed it stay pending."""
    resume: SuiteRun | None = None
    """A stored run to go on with; see `resume_suite`."""


def resume_suite(run: SuiteRun, suite: EvalSuite) -> EvalSuite:
    """Make the suite of a stored run: its cases and server, with the models of today's file.

    Raises:
        ConfigError: If the run is of another suite.
        StoreError: If the run cannot be read.
    """
    if run.suite != suite.name:
        raise ConfigError(f"{run.run_id} is a run of another suite: {run.suite}")
    return suite.model_copy(update={"cases": run.cases, "server": run.header.get("server")})


def run_suite_now(
    suite: EvalSuite,
    options: SuiteOptions | None = None,
    listener: Listener = lambda _event: None,
    control: RunControl | None = None,
) -> EvalSuiteResult:
    """Run all cases of a suite; ends early when it is cancelled.

    Raises:
        ConfigError: If a named LLM does not exist.
        StoreError: If the run could not be stored; finished trials are kept.
    """
    options = options or SuiteOptions()
    control = control or RunControl()
    plans = plan_trials(suite, options)
    manager = LLMManager(options.data_dir, environ=options.environ)
    try:
        if options.max_cost_usd is not None:
            require_prices([plan.llm for plan in plans if plan.llm], manager.is_local)
            manager.budget = Budget(options.max_cost_usd)
        return _SuiteRun(suite, options, manager, listener, control).run(plans)
    finally:
        manager.close()


def plan_trials(suite: EvalSuite, options: SuiteOptions) -> list[SuiteTrialPlan]:
    """List the trials to run; first trials come first, so that every case reports early.

    A resumed run lacks those that came to a result. Those that failed to run are run again.

    Raises:
        ConfigError: If a named LLM does not exist.
        StoreError: If the resumed run cannot be read.
    """
    resumed = options.resume
    wanted = options.llm_id or (resumed.header.get("llm") if resumed else None)
    llms = choose_llms(suite, options.data_dir, wanted)
    done = {(trial.case_id, trial.trial_index + 1) for trial in _list_finished_trials(resumed)}
    most = max((case.trials for case in suite.cases), default=0)
    return [
        SuiteTrialPlan(case=case, trial=trial, llm=llms[case.id])
        for trial in range(1, most + 1)
        for case in suite.cases
        if trial <= case.trials and (case.id, trial) not in done
    ]


def _list_finished_trials(run: SuiteRun | None) -> list[EvalTrialResult]:
    return [trial for trial in run.trials() if trial.failure is None] if run else []


class _SuiteRun:
    def __init__(
        self,
        suite: EvalSuite,
        options: SuiteOptions,
        manager: LLMManager,
        listener: Listener,
        control: RunControl,
    ) -> None:
        self._suite = suite
        self._options = options
        self._services = AgentServices(
            data_dir=options.data_dir,
            llms=manager,
            environ={**options.environ, **make_up_credentials(suite, options.environ)},
            clock=manager.clock,
        )
        self._listener = listener
        self._control = control
        self._lock = threading.Lock()
        self._resumed = options.resume
        self._results = _list_finished_trials(options.resume)

    def run(self, plans: Sequence[SuiteTrialPlan]) -> EvalSuiteResult:
        resumed = self._resumed
        started = resumed.started if resumed else self._services.clock.now_iso()
        run_id = resumed.run_id if resumed else make_run_id(started)
        header = None if resumed else self._header(started, plans)
        with write_suite_run(self._options.data_dir, run_id, header) as writer:
            trials = TrialRunner(
                self._services,
                Profiles(self._services),
                writer,
                server=self._suite.server,
                suite_folder=Path(self._suite.folder),
            )
            self._tell(SuiteStarted(run_id=run_id, suite=self._suite.name, n_trials=len(plans)))
            self._work_off(plans, trials, writer)
        prices = resumed.prices if resumed else {}
        prices |= {plan.llm.id: plan.prices for plan in plans if plan.llm}
        changes = {
            "run_id": run_id,
            "started": started,
            "folder": str(writer.folder),
            "cancelled": self._control.cancelled(),
        }
        report = judge_trials(self._suite.name, self._suite.cases, self._results, prices)
        report = report.model_copy(update=changes)
        self._tell(SuiteFinished(report=report))
        return report

    def _header(self, started: str, plans: Sequence[SuiteTrialPlan]) -> dict[str, Any]:
        return {
            "started": started,
            "version": __version__,
            "suite": self._suite.name,
            "server": self._suite.server,
            "folder": self._suite.folder,
            "llm": self._options.llm_id,
            "llms": sorted({plan.llm.id for plan in plans if plan.llm}),
            "prices": {plan.llm.id: asdict(plan.prices) for plan in plans if plan.llm},
            "cases": [
                case.model_dump(mode="json", exclude_unset=True) for case in self._suite.cases
            ],
        }

    def _work_off(
        self, plans: Sequence[SuiteTrialPlan], trials: TrialRunner, writer: SuiteRunWriter
    ) -> None:
        """Run all trials; the first error outside of a trial ends the run and is raised."""
        pool = Pool(self._services.llms, self._control)
        work = Work(items=plans, n_items=len(plans), concurrency=self._options.parallel)
        with closing(pool.run([work], lambda plan: self._run_trial(plan, trials))) as events:
            for event in events:
                if isinstance(event, JobDone):
                    writer.append(event.value)
                    self._results.append(event.value)
                    self._tell(SuiteTrialFinished(result=event.value))

    def _run_trial(self, plan: SuiteTrialPlan, trials: TrialRunner) -> JobResult[EvalTrialResult]:
        case_id, number = plan.case.id, plan.trial

        def note(step: Step) -> None:
            self._tell(StepDone(case_id=case_id, trial=number, step=step))

        self._tell(TrialStarted(case_id=case_id, trial=number))
        return JobResult(trials.run(plan, self._control.cancelled, note))

    def _tell(self, event: SuiteEvent) -> None:
        with self._lock:
            self._listener(event)

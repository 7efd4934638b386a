"""Running tests, from the workspace to the stored results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.load import CONFIG_FILE
from poor_bench.config.names import llm_named, write_names_hint
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.ports import Listener
from poor_bench.runner.plan import Plan, WorkItem, make_plan
from poor_bench.runner.scorer import Scorer, WorkspaceFingerprints
from poor_bench.runner.selection import Selection, select
from poor_bench.runner.trial_states import TrialStates
from poor_bench.runs.history import make_run_id

if TYPE_CHECKING:
    from poor_bench.cluster.cluster import Cluster
    from poor_bench.config.load import Workspace
    from poor_bench.judge.response_judging import ResponseJudging, WorkspaceJudges
    from poor_bench.llm_manager import LLMManager
    from poor_bench.plugins import EvaluatorRegistry
    from poor_bench.runner.batches.batches import Batches
    from poor_bench.runner.batches.collect import Collected
    from poor_bench.runner.events import RunFinished
    from poor_bench.runner.jobs import CostEstimate
    from poor_bench.runner.run import Workforce
    from poor_bench.sandbox import SandboxTerms
    from poor_bench.workspace_folder import WorkspaceFolder


class WorkspaceRunner:
    """Plans and runs the tests of one workspace; a library, so it prints nothing.

    Example:
        ```python
        runner = WorkspaceRunner(WorkspaceFolder(Path("data")))
        finished = runner.run(runner.plan(Selection(classes=("math*",))), print)
        ```
    """

    def __init__(
        self,
        config: WorkspaceFolder,
        manager: LLMManager | None = None,
        *,
        workspace: Workspace | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        """Open a workspace.

        Args:
            config: The workspace, its evaluators and its store.
            manager: Asks the LLMs; made for the workspace by default.
            workspace: Other classes, tests and LLMs than its files have, as tuning tries them.
            cluster: Asks and scores in place of this machine.

        Raises:
            ConfigError: With every problem of every file of the workspace.
        """
        self.config = config
        self.workspace = workspace or config.workspace
        if workspace is None and _may_have_level(config.data_dir):
            accept_level_in(config.data_dir)
        self._cluster = cluster
        self._evaluators = config.evaluators
        self.fingerprints = WorkspaceFingerprints(
            self.workspace, self._evaluators, lambda: self.judges
        )
        if manager:
            self.manager = manager
        if cluster:
            self.manager = manager or cluster.make_manager(config.data_dir)
            self.scorer = remote = cluster.make_scorer(*self._list_parts())
            self.workforce = cluster.make_workforce(remote, self.manager)

    # Made on demand: who only looks at states needs none of these, nor their imports.

    @cached_property
    def manager(self) -> LLMManager:
        """Asks the LLMs."""
        from poor_bench.llm_manager import LLMManager

        return LLMManager(self.config.data_dir)

    @property
    def judges(self) -> WorkspaceJudges:
        """Who judges, by what."""
        return self._judging.judges

    @cached_property
    def _judging(self) -> ResponseJudging:
        from poor_bench.judge.response_judging import ResponseJudging

        return ResponseJudging(self.config.data_dir, self.workspace.llms, self.manager)

    @cached_property
    def scorer(self) -> Scorer:
        """Scores the responses."""
        return Scorer(*self._list_parts())

    def _list_parts(
        self,
    ) -> tuple[Workspace, EvaluatorRegistry, WorkspaceFingerprints, ResponseJudging]:
        return self.workspace, self._evaluators, self.fingerprints, self._judging

    @cached_property
    def workforce(self) -> Workforce:
        """Does the jobs of a run."""
        from poor_bench.runner.run import Workforce

        return Workforce()

    def states(self, selection: Selection, stored_llms: Iterable[str] = ()) -> TrialStates:
        """Determine how far each selected trial is.

        Args:
            selection: Which trials.
            stored_llms: Ids that a filter may name besides those of the workspace; they have no
                states.

        Raises:
            ConfigError: If a filter matches nothing.
            StoreError: If the stored results cannot be read.
        """
        chosen = select(self.workspace, selection, stored_llms)
        states = TrialStates(chosen.llms, chosen.tests, selection.trials)
        states.n_disabled = chosen.n_disabled_tests
        if selection.shard is not None:
            states.limit_to(selection.shard.holds)
        known_tests = self.workspace.tests_by_id
        if self.config.store.is_large():
            from poor_bench.runner.stale import note_table

            note_table(states, self.config.store.table(), self.fingerprints, known_tests)
        else:
            states.note_all(self.config.store.results(), self.fingerprints, known_tests)
        if self.has_batches:
            states.note_batched(self.batches.list_trials())
        return states

    @cached_property
    def batches(self) -> Batches:
        """The batches of the workspace at its providers."""
        from poor_bench.runner.batches.batches import Batches

        return Batches(
            self.workspace, self.manager, self.config.store, self.scorer, self.estimate_costs
        )

    @property
    def has_batches(self) -> bool:
        """True if a batch was not collected yet.

        Raises:
            StoreError: If a note cannot be read.
        """
        return self.config.store.paths.batches_dir.is_dir() and self.batches.has_open()

    def collect_batches(
        self,
        listener: Listener = lambda _event: None,
        control: RunControl | None = None,
        *,
        judges: bool = True,
    ) -> Collected:
        """Score and store the answers of batches that have ended.

        Args:
            listener: Hears of the run that stores them.
            control: Stops it.
            judges: False to ask no model: answers that one judges wait for the next run.

        Raises:
            ConfigError: If the sandbox is weaker than what was accepted, or a judge is missing.
            StoreError: If notes or results cannot be read or written.
        """
        tests = self.batches.list_tests()
        if judges:
            self.scorer.require_judges(tests)
        self.require_sandbox(tests)
        return self.batches.collect(listener, control or RunControl(), judges=judges)

    def plan(self, selection: Selection | None = None) -> Plan:
        """Plan a run; unless it is a shard, runs that ended without being closed are closed first.

        Raises:
            ConfigError: If a filter matches nothing, or tests or enabled LLMs are missing.
            StoreError: If the stored results cannot be read.
        """
        selection = selection or Selection()
        if selection.shard is None:
            self.config.store.merge()
        states = self.states(selection)
        _require_something(states)
        return selection.plan(states)

    def estimate_costs(self, item: WorkItem) -> Iterator[tuple[LLM, float | None]]:
        """Yield the LLM of a trial, then its judges, with about what each will cost.

        Raises:
            ConfigError: If a judge or a rubric cannot be used.
        """
        from poor_bench.runner.jobs import estimate_costs

        return estimate_costs(item, self.workspace, self.scorer, self.judges)

    def estimate_cost(self, plan: Plan) -> CostEstimate:
        """Estimate what a plan will cost, without requests.

        Raises:
            ConfigError: If a judge or a rubric cannot be used.
        """
        from poor_bench.runner.jobs import estimate_cost

        return estimate_cost(plan, self.workspace, self.scorer, self.judges)

    def run(
        self,
        plan: Plan,
        listener: Listener = lambda _event: None,
        control: RunControl | None = None,
    ) -> RunFinished:
        """Run a plan; blocks until it ended or `control` stopped it.

        Raises:
            ConfigError: If a judge, its key or a rubric is missing, or the sandbox is weaker than
                what was accepted; nothing was asked then.
            StoreError: If a result could not be stored; all that was stored before is kept.
        """
        from poor_bench.runner.run import Run

        self.scorer.require_judges(plan.tests())
        self.require_sandbox(plan.states.tests)
        make_jobs = self.workforce.make_jobs
        jobs = make_jobs(self.workspace, self.manager, self.scorer, judge_later=True)
        run = Run(plan, self.config.store, self.manager, self.scorer, jobs, self.workforce)
        return run.run(listener, control or RunControl())

    def sandbox_terms(self, tests: Iterable[Test]) -> SandboxTerms | None:
        """Describe the sandbox for code of models; None if no test runs such code.

        Raises:
            SandboxError: If processes cannot be started.
        """
        from poor_bench.sandbox import describe_sandbox_terms

        return describe_sandbox_terms() if self.scorer.runs_code(tests) else None

    def require_sandbox(self, tests: Iterable[Test]) -> None:
        """Make sure that code of models is locked in as well as it has to be.

        Raises:
            ConfigError: If it is not, and some tests run such code.
        """
        if self._cluster is not None:
            tests = list(tests)
            if self.scorer.runs_code(tests):
                self._cluster.require_sandbox()
            tests = filter(self.scorer.is_judged, tests)  # scored here
        terms = self.sandbox_terms(tests)
        if terms is not None and terms.is_refused:
            raise ConfigError(terms.refusal, hint=terms.fix)

    def run_test(self, test_id: str, llm_id: str) -> Result:
        """Run one test by one LLM now, whatever is stored, and store its result.

        Raises:
            ConfigError: If the test or the LLM is unknown; the hint names the nearest.
            StoreError: If the result could not be stored.
        """
        from poor_bench.runner.machine import collect_machine_facts

        tests = self.workspace.tests_by_id
        if test_id not in tests:
            raise ConfigError(f"unknown test {test_id!r}", hint=write_names_hint(test_id, tests))
        llm, test = llm_named(llm_id, self.workspace.llms), tests[test_id]
        started = self.manager.clock.now_iso()
        run_id = make_run_id(started, self.config.store.newest_run_id())
        result = self.try_once(llm, test, run_id)
        header = {"started": started, "machine": collect_machine_facts()}
        self.config.store.add([result], run_id, header)
        return result

    def try_once(
        self,
        llm: LLM,
        test: Test,
        run_id: str = "",
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Result:
        """Run and score one trial, judge and all, without storing it.

        Raises:
            RunCancelledError: If `cancelled()` turned true.
        """
        from poor_bench.runner.jobs import TrialJobs

        jobs = TrialJobs(self.workspace, self.manager, self.scorer)
        result, _ = jobs.run(WorkItem(llm, test, 1), run_id, cancelled)
        return result

    def cost_per_test_usd(self, llm: LLM, tests: Sequence[Test]) -> float | None:
        """Estimate the mean cost of a test with its judge, without requests.

        Local LLMs without prices count as free; None where another one has no price.
        """
        from poor_bench.calls.budget import find_unpriced

        cost = self.estimate_cost(make_plan(TrialStates([llm], tests, 1)))
        if find_unpriced(cost.unpriced, self.manager.is_local):
            return None
        return cost.usd / max(1, len(tests))

    def close(self) -> None:
        """Free the models and connections."""
        if "manager" in vars(self):
            self.manager.close()


def _may_have_level(data_dir: Path) -> bool:
    """True unless no level is named, nor can have been accepted in this process before."""
    return (data_dir / CONFIG_FILE).exists() or "poor_bench.sandbox" in sys.modules


def accept_level_in(data_dir: Path) -> None:
    """Let code of models run from the sandbox level on that a workspace's config.yaml names.

    Raises:
        ConfigError: With every problem of the file.
    """
    from poor_bench.config.judge_settings import load_settings
    from poor_bench.sandbox import accept_level, parse_level

    accepted = load_settings(data_dir).sandbox
    accept_level(parse_level(accepted) if accepted else None, by_workspace=True)


def _require_something(states: TrialStates) -> None:
    if not states.tests:
        raise ConfigError("the workspace has no tests", hint="Add tests to tests.json.")
    if not states.llms:
        raise ConfigError(
            "no model is enabled",
            hint="Set `enabled` in llms.json to true, or give its full id with --llm.",
        )

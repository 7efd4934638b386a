"""Run and score a workspace with other prompts or models than its files; cost of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from poor_bench.config.load import Workspace
from poor_bench.judge.response_judging import ResponseJudging
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.ports import Listener
from poor_bench.runner.events import RunFinished
from poor_bench.runner.jobs import TrialJobs, estimate_cost
from poor_bench.runner.plan import Plan, TrialStates, WorkItem, make_plan
from poor_bench.runner.run import Run
from poor_bench.runner.scorer import Scorer, WorkspaceFingerprints
from poor_bench.workspace_folder import WorkspaceFolder


def result_cost_usd(result: Result) -> float | None:
    """Cost of answer and judge in US dollars; None if neither has a price."""
    known = [cost for cost in (result.cost_usd, result.judge_cost_usd) if cost is not None]
    return sum(known) if known else None


def n_calls_of(result: Result) -> int:
    """Number of requests for a result: one, and one per judge."""
    return 1 if result.judgement is None else 2


class Assembly:
    """Components of the runner for such a workspace.

    Attributes:
        fingerprints: Of what would be asked in it, and of how it would be scored.
        scorer: Scores with its evaluators and judges.
    """

    def __init__(self, config: WorkspaceFolder, manager: LLMManager, workspace: Workspace) -> None:
        """Assemble the components.

        Args:
            config: Its evaluators and its store are used.
            manager: Asks the LLMs.
            workspace: Its classes, tests and LLMs.
        """
        self._config = config
        self._manager = manager
        self._workspace = workspace
        judging = ResponseJudging(config.data_dir, workspace.llms, manager)
        self.fingerprints = WorkspaceFingerprints(workspace, config.evaluators, judging.judges)
        self.scorer = Scorer(workspace, config.evaluators, self.fingerprints, judging)
        self._judges = judging.judges

    def cost_per_test_usd(self, llm: LLM, tests: Sequence[Test]) -> float:
        """Estimate the mean cost of a test with its judge, without requests.

        LLMs whose prices are not known count as free.
        """
        plan = make_plan(TrialStates([llm], tests, 1))
        estimate = estimate_cost(plan, self._workspace, self.scorer, self._judges)
        return estimate.usd / max(1, len(tests))

    def try_once(self, llm: LLM, test: Test, cancelled: Callable[[], bool]) -> Result:
        """Run and score a trial without storing it.

        Raises:
            RunCancelledError: If `cancelled()` turned true.
        """
        executor = TrialJobs(self._workspace, self._manager, self.scorer)
        result, _ = executor.run(WorkItem(llm, test, 1), "", cancelled)
        return result

    def run(self, plan: Plan, listener: Listener, control: RunControl) -> RunFinished:
        """Run a plan as any other run, stored with the results of the workspace.

        Raises:
            StoreError: If a result could not be stored.
        """
        executor = TrialJobs(self._workspace, self._manager, self.scorer, judge_later=True)
        run = Run(plan, self._config.store, self._manager, self.scorer, executor)
        return run.run(listener, control)

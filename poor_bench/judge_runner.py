"""Plan and run judged runs of a workspace."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from poor_bench.calls.budget import Budget, require_prices
from poor_bench.judge.agents.events import AgentEvent
from poor_bench.judge.agents.load import load_agent_shelf
from poor_bench.judge.agents.plan import JudgePlan
from poor_bench.judge.agents.prepare import JudgeRequest, prepare_plan
from poor_bench.judge.agents.run_agent import AgentRunner
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.store import JudgementStore
from poor_bench.llm_manager import LLMManager
from poor_bench.runner.identity import new_run_id


class JudgeRunner:
    """Plans and runs agents of one workspace; a library, so it prints nothing.

    Attributes:
        store: Where runs are kept.
        budget: What `run` may spend, and what it did not begin for want of money.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        max_cost_usd: float = math.inf,
        manager: LLMManager | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Prepare without sending requests.

        Args:
            data_dir: The workspace.
            max_cost_usd: Most US dollars to spend; work that might exceed it is not begun.
            manager: Asks the LLMs; made for the workspace by default.
            environ: Where keys are looked up.
        """
        self.store = JudgementStore(data_dir)
        self.budget = Budget(max_cost_usd)
        self._data_dir = data_dir
        self._environ = environ
        self._manager = manager or LLMManager(data_dir)
        self._runner = AgentRunner(self._manager, self.store, budget=self.budget)

    def plan(self, request: JudgeRequest) -> JudgePlan:
        """Plan a run without sending requests.

        Raises:
            ConfigError: If there is no such agent, case or judge, or a key is missing.
        """
        shelf = load_agent_shelf(self._data_dir)
        return prepare_plan(request, shelf, self._data_dir, self._environ)

    def run(
        self, plan: JudgePlan, listener: Callable[[AgentEvent], None] = lambda _event: None
    ) -> JudgeRun:
        """Run a plan; blocks until it ended. The listener hears of everything, in this thread.

        Raises:
            ConfigError: If the settings of an LLM cannot be used, or the limit cannot be kept.
            StoreError: If something could not be stored; all that was stored before is kept.
            RunCancelledError: If `stop` was called; all that was stored before is kept.
        """
        if self.budget.is_limited:
            require_prices(plan.asked, self._manager.is_local)
        self._runner.listener = listener
        return self._runner.run(plan, new_run_id(self._manager.clock.now_iso()))

    def stop(self) -> None:
        """Stop a run and cancel open requests; thread-safe."""
        self._runner.stop()

    def close(self) -> None:
        """Free the models and connections."""
        self._manager.close()

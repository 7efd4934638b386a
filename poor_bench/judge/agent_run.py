"""Judged runs of a workspace: plan, hold the conversations, have them judged, store everything."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from poor_bench.calls.budget import Budget, require_prices
from poor_bench.errors import ConfigError
from poor_bench.judge.conversation import Conversation, ConversationDriver
from poor_bench.judge.judge import Judge
from poor_bench.judge.judged_run import (
    AgentEvent,
    ConversationHeld,
    JudgementMade,
    JudgeRun,
)
from poor_bench.judge.judgement import Judgement
from poor_bench.judge.registry import load_agent_registry
from poor_bench.judge.run_plan import (
    JudgePlan,
    JudgeRequest,
    estimate_conversation_usd,
    estimate_judgement_usd,
    find_plan_usd,
    prepare_plan,
    resume_request,
)
from poor_bench.judge.storage import JudgementStore, RunWriter
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, ModelLoading
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.runs.history import make_run_id

_Outcome = TypeVar("_Outcome", Conversation, Judgement)


@dataclass(frozen=True, slots=True)
class _Job(Generic[_Outcome]):
    """A unit of work with a cost."""

    do: Callable[[], _Outcome]
    estimate_usd: float


Listener = Callable[[AgentEvent], None]


class JudgeRunner:
    """Plans and runs agents of one workspace, one model at a time; a library, so it prints nothing.

    Attributes:
        store: Takes every conversation and judgement the moment it exists.
        budget: What `run` may spend, and what it skipped to keep the limit.
    """

    def __init__(
        self, data_dir: Path, *, max_cost_usd: float = math.inf, manager: LLMManager | None = None
    ) -> None:
        """Prepare without sending requests.

        Args:
            data_dir: The workspace.
            max_cost_usd: Most US dollars to spend; work that might exceed it is not begun.
            manager: Asks the LLMs; made for the workspace by default.
        """
        self.store = JudgementStore(data_dir)
        self.budget = Budget(max_cost_usd)
        self._data_dir = data_dir
        self._manager = manager or LLMManager(data_dir)
        self._control = RunControl()
        # A model that cannot be asked is tried for every job, too: each result says why it is none.
        self._pool = Pool(self._manager, self._control, gives_up=False)
        self._listener: Listener = lambda _event: None

    def plan(self, request: JudgeRequest) -> JudgePlan:
        """Plan a run without sending requests.

        Raises:
            ConfigError: If an agent, case or judge does not exist, or a key is missing.
        """
        registry = load_agent_registry(self._data_dir)
        return prepare_plan(request, registry, self._data_dir, os.environ)

    def plan_resume(self, reference: str, agent_id: str = "") -> JudgePlan:
        """Plan to go on with a stored run: with what is missing, and with what failed.

        Args:
            reference: The run, as in `JudgementStore.find`.
            agent_id: The agent it must be of; empty for any.

        Raises:
            ConfigError: If the run does not exist, or its agent or rubric changed since.
        """
        run = self.store.find(reference)
        if agent_id and run.header.agent_id != agent_id:
            raise ConfigError(f"{run.run_id} is a run of another agent: {run.header.agent_id}")
        of = run.header.conversations_of
        return self.plan(resume_request(run, self.store.find(of) if of else None))

    def run(
        self, plan: JudgePlan, listener: Listener = lambda _event: None, run_id: str = ""
    ) -> JudgeRun:
        """Hold the conversations of a plan and have them judged; blocks until it ended.

        A piece of work whose estimated cost does not fit into the budget is not begun, and missing
        from what is returned. A conversation in which an LLM could not be asked is kept with its
        failure and not judged; where a judge cannot be asked or understood, its fallback is kept.

        Args:
            plan: What to do.
            listener: Hears of everything, in this thread.
            run_id: Id of a new run; made up by default.

        Raises:
            ConfigError: If the settings of an LLM cannot be used, or the limit cannot be kept.
            StoreError: If something could not be stored; all that was stored before is kept.
        """
        self._listener = listener
        self._require_usable(plan)
        now_iso = self._manager.clock.now_iso
        started = now_iso()
        run = plan.resumed or JudgeRun(header=plan.header(run_id or make_run_id(started), started))
        resumes = plan.resumed is not None
        with self.store.writing(run.header, resumes=resumes) as writer:
            if resumes:
                writer.resume(now_iso())
            conversations = (*run.conversations, *self._converse(plan, writer))
            talked = [talk for talk in conversations if talk.failure is None]
            judgements = run.judgements
            if talked:
                judgements += tuple(self._judgements(plan, talked, writer))
            ended = now_iso()
            writer.end(ended)
        return replace(run, conversations=conversations, judgements=judgements, ended=ended)

    def close(self) -> None:
        """Free the models and connections."""
        self._manager.close()

    def estimate_usd(self, plan: JudgePlan) -> float | None:
        """Estimate the highest cost of a plan in US dollars; None where a price is unknown."""
        return find_plan_usd(plan, self._manager.is_local)

    def _require_usable(self, plan: JudgePlan) -> None:
        """Report unknown prices and invalid settings of models before the first request."""
        if self.budget.is_limited:
            require_prices(plan.asked, self._manager.is_local)
        for llm in (plan.llms[plan.agent.llm_id], *plan.judges):
            self._manager.concurrency(llm)

    def _converse(self, plan: JudgePlan, writer: RunWriter) -> Iterator[Conversation]:
        for conversation in plan.conversations_left or self._hold(plan):
            writer.add_conversation(conversation)
            self._listener(ConversationHeld(conversation))
            yield conversation

    def _hold(self, plan: JudgePlan) -> Iterator[Conversation]:
        if not plan.cases_left:
            return
        llm = plan.llms[plan.agent.llm_id]
        driver = ConversationDriver(plan.agent, plan.llms, self._ask, self._manager.clock.now_iso)
        jobs = [
            _Job(partial(driver.hold, case), estimate_conversation_usd(plan, case))
            for case in plan.cases_left
        ]
        yield from self._run_each(llm, jobs)

    def _judgements(
        self, plan: JudgePlan, conversations: Sequence[Conversation], writer: RunWriter
    ) -> Iterator[Judgement]:
        evidence = plan.evidence(conversations)
        for llm in filter(plan.n_judgements_by, plan.judges):
            judge = Judge(llm, self._manager, plan.rubric, threshold=plan.threshold)
            ask = partial(judge.judge, evidence, self._control.cancelled)
            job = _Job(ask, estimate_judgement_usd(plan, llm, evidence))
            for judgement in self._run_each(llm, [job] * plan.n_judgements_by(llm)):
                writer.add_judgement(judgement)
                self._listener(JudgementMade(judgement))
                yield judgement

    def _ask(self, llm: LLM, messages: tuple[Message, ...]) -> Completion:
        return self._manager.complete(llm, messages, self._control.cancelled)

    def _run_each(self, llm: LLM, jobs: Sequence[_Job[_Outcome]]) -> Iterator[_Outcome]:
        """Yield the results of affordable jobs, run in parallel up to the model's concurrency."""
        concurrency = self._manager.concurrency(llm)
        work = Work(llm=llm, items=jobs, n_items=len(jobs), concurrency=concurrency)
        with closing(self._pool.run([work], self._do)) as events:
            for event in events:
                if isinstance(event, ModelLoading):
                    self._listener(event)
                elif isinstance(event, JobDone) and event.value is not None:
                    yield event.value

    def _do(self, job: _Job[_Outcome]) -> JobResult[_Outcome | None]:
        return JobResult(self.budget.run_within(job.estimate_usd, job.do))

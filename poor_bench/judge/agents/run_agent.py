"""Talk to an agent, have the conversations judged, store everything."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from poor_bench.calls.budget import Budget
from poor_bench.errors import CostLimitError, RecordedError
from poor_bench.judge.agents.cost_estimate import conversation_usd, judgement_usd
from poor_bench.judge.agents.events import (
    AgentEvent,
    ConversationHeld,
    JudgementMade,
    ModelLoading,
)
from poor_bench.judge.agents.plan import JudgePlan
from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.conversation.hold import Talker
from poor_bench.judge.history.judge_run import JudgeRun
from poor_bench.judge.history.store import JudgementStore, RunWriter
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import Judgement
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.llm import LLM

_Outcome = TypeVar("_Outcome", Conversation, Judgement)


@dataclass(frozen=True, slots=True)
class _Job(Generic[_Outcome]):
    """A unit of work with a cost."""

    do: Callable[[], _Outcome]
    estimate_usd: float


@dataclass(slots=True)
class AgentRunner:
    """Runs conversations and judgements, one model at a time.

    Attributes:
        manager: Asks the LLMs.
        store: Takes every conversation and judgement the moment it exists.
        listener: Hears of each of them, in the thread that called `run`.
        budget: What may be spent; what does not fit is not begun.
    """

    manager: LLMManager
    store: JudgementStore
    listener: Callable[[AgentEvent], None] = lambda _event: None
    budget: Budget = field(default_factory=Budget)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _loaded: LLM | None = None

    def run(self, plan: JudgePlan, run_id: str) -> JudgeRun:
        """Hold the conversations of a plan and have them judged.

        A piece of work whose estimated cost does not fit into the budget is not begun, and missing
        from what is returned. A conversation in which an LLM could not be asked is kept with its
        failure and not judged; where a judge cannot be asked or understood, its fallback is kept.

        Raises:
            ConfigError: If the settings of an LLM cannot be used.
            StoreError: If something could not be stored.
            RunCancelledError: If `stop` was called; what is stored by then is kept.
        """
        self._require_usable(plan)
        header = plan.header(run_id, self.manager.clock.now_iso())
        with self.store.writing(header) as writer, self._stopping_on_error():
            conversations = tuple(self._conversations(plan, writer))
            talked = [talk for talk in conversations if talk.failure is None]
            judgements = tuple(self._judgements(plan, talked, writer)) if talked else ()
            ended = self.manager.clock.now_iso()
            writer.end(ended)
        return JudgeRun(
            header=header, conversations=conversations, judgements=judgements, ended=ended
        )

    def stop(self) -> None:
        """Stop the run: open requests are cancelled, and `run` raises RunCancelledError."""
        self._stopped.set()

    def _require_usable(self, plan: JudgePlan) -> None:
        """Open every model, so that invalid settings are reported before the first request."""
        for llm in (plan.llms[plan.agent.llm_id], *plan.judges):
            self.manager.concurrency(llm)

    @contextlib.contextmanager
    def _stopping_on_error(self) -> Iterator[None]:
        """Cancel the other threads' requests if one fails or the user stops."""
        try:
            yield
        except BaseException:
            self._stopped.set()
            raise

    def _conversations(self, plan: JudgePlan, writer: RunWriter) -> Iterator[Conversation]:
        for conversation in plan.conversations or self._held(plan):
            writer.add_conversation(conversation)
            self.listener(ConversationHeld(conversation))
            yield conversation

    def _held(self, plan: JudgePlan) -> Iterator[Conversation]:
        llm = plan.llms[plan.agent.llm_id]
        self._load(llm)
        talker = Talker(plan.agent, plan.llms, self._ask, self.manager.clock.now_iso)
        jobs = [
            _Job(partial(talker.hold, case), conversation_usd(plan, case)) for case in plan.cases
        ]
        yield from self._each(llm, jobs)

    def _judgements(
        self, plan: JudgePlan, conversations: Sequence[Conversation], writer: RunWriter
    ) -> Iterator[Judgement]:
        subject = plan.subject(conversations)
        for llm in plan.judges:
            self._load(llm)
            judge = Judge(llm, self.manager, plan.rubric, threshold=plan.threshold)
            ask = partial(judge.judge, subject, self._stopped.is_set)
            job = _Job(ask, judgement_usd(plan, llm, subject))
            for judgement in self._each(llm, [job] * plan.repeat):
                writer.add_judgement(judgement)
                self.listener(JudgementMade(judgement))
                yield judgement

    def _load(self, llm: LLM) -> None:
        if self._loaded is not None and self._loaded.id != llm.id:
            self.manager.unload(self._loaded)
        self._loaded = llm
        with contextlib.suppress(RecordedError):  # asking will fail for the same reason, and say so
            self.manager.preload(
                llm, self._stopped.is_set, loading=lambda: self.listener(ModelLoading(llm.id))
            )

    def _ask(self, llm: LLM, messages: tuple[Message, ...]) -> Completion:
        return self.manager.complete(llm, messages, self._stopped.is_set)

    def _each(self, llm: LLM, jobs: Sequence[_Job[_Outcome]]) -> Iterator[_Outcome]:
        """Yield the results of affordable jobs, run in parallel up to the model's concurrency."""
        n_threads = self.manager.concurrency(llm)
        with ThreadPoolExecutor(max_workers=n_threads) as pool, self._stopping_on_error():
            for future in as_completed([pool.submit(self._do, job) for job in jobs]):
                outcome = future.result()
                if outcome is not None:
                    yield outcome

    def _do(self, job: _Job[_Outcome]) -> _Outcome | None:
        try:
            with self.budget.holding(job.estimate_usd) as settle:
                outcome = job.do()
                settle(outcome.cost_usd)
        except CostLimitError:
            return None
        return outcome

"""One run: open the journal, bring old scores up to date, ask, judge, merge."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from poor_bench import __version__
from poor_bench.errors import ProviderError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import sum_known
from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import JobDone, LLMUnavailable
from poor_bench.pool.pool import SPARE_SLOTS, JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.ports import Listener, ResultSink
from poor_bench.prompts import hash_llm
from poor_bench.results.earlier import EarlierScores
from poor_bench.results.store import ResultStore
from poor_bench.runner.events import (
    JudgeUnavailable,
    JudgingStarted,
    RunFinished,
    RunStarted,
    TrialAnswered,
    TrialFinished,
    TrialRescored,
)
from poor_bench.runner.jobs import JudgeItem, TrialJobs, group_by_judge, score_again
from poor_bench.runner.machine import collect_machine_facts
from poor_bench.runner.plan import Plan, WorkItem
from poor_bench.runner.rescore import Rescored, make_run_ids, rescore, to_rescore
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.trial_states import TrialState
from poor_bench.runs.journal import find_owner_lock

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workforce:
    """Where the work of a run is done: on this machine by default, or on those of a cluster."""

    machines: Callable[[], Mapping[str, Any]] = dict
    """Facts of the machines of a cluster that ask, by name."""
    n_spare_slots: int = SPARE_SLOTS
    """Jobs that may score while others ask, for each model."""
    make_jobs: Callable[..., TrialJobs] = TrialJobs
    """Makes what asks and scores the trials; called as `TrialJobs`."""
    rescore: Callable[[Iterable[JudgeItem], Scorer], Generator[Rescored, None, None]] = rescore
    """Scores stored responses again."""


class Run:
    """One run of a plan."""

    def __init__(
        self,
        plan: Plan,
        store: ResultStore,
        manager: LLMManager,
        scorer: Scorer,
        jobs: TrialJobs,
        workforce: Workforce | None = None,
        *,
        judges: bool = True,
        facts: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Prepare a run.

        Args:
            plan: What it does.
            store: Where the results go.
            manager: Asks the models.
            scorer: Scores responses.
            jobs: Asks and scores one trial.
            workforce: Where the work is done; on this machine by default.
            judges: False to leave responses that wait for a judge to the next run.
            facts: Added to the header of the run.
        """
        self._workforce = workforce or Workforce()
        self._judges = judges
        self._facts = facts
        self._plan = plan
        self._store = store
        self._manager = manager
        self._scorer = scorer
        self._jobs = jobs

    def run(self, listener: Listener, control: RunControl) -> RunFinished:
        """Run everything that is planned; returns when all of it ended or was stopped.

        A shard leaves its journal as it is: other machines may share the folder.

        Raises:
            StoreError: If a result could not be stored; all that was stored before is kept.
        """
        started = self._manager.clock.now_iso()
        rescores = bool(self._plan.n_stale_scores)
        earlier_id, run_id = make_run_ids(self._store, started, rescores=rescores)
        if self._plan.shard is not None:  # ids of machines that start together must not meet
            run_id = f"{run_id}-{self._plan.shard.number}of{self._plan.shard.count}"
        earlier = EarlierScores(self._store.paths, earlier_id, replaced_by=run_id, started=started)
        header = _header(self._plan, started, self._manager) | dict(self._facts)
        if machines := self._workforce.machines():
            header["machines"] = dict(machines)
        journal = self._store.open_run(run_id, header)
        progress = Progress(run_id, journal, earlier, listener)
        try:
            progress.tell(_build_start(run_id, self._plan))
            self._keep_what_is_asked_again(earlier)
            self._rescore(progress, control)
            pool = Pool(self._manager, control, n_spare_slots=self._workforce.n_spare_slots)
            self._ask(pool, progress, control)
            if self._judges:
                self._judge(pool, progress, control)
        finally:
            try:
                earlier.close()
            finally:
                journal.close()
        if self._plan.shard is None:
            self._store.merge()
        else:
            find_owner_lock(journal.path).unlink(missing_ok=True)
        finished = progress.sum_up(self._plan.n_items, cancelled=control.cancelled())
        progress.tell(finished)
        return finished

    def _rescore(self, progress: Progress, control: RunControl) -> None:
        if not self._plan.n_stale_scores:
            return
        results = self._without_judged(self._store.results(), progress)
        items = to_rescore(results, self._find_stale_test, self._scorer)
        with closing(self._workforce.rescore(items, self._scorer)) as scored:
            for rescored in scored:
                if control.cancelled():
                    return
                progress.store_rescored(rescored.outcome, rescored.old)

    def _keep_what_is_asked_again(self, earlier: EarlierScores) -> None:
        """Keep the scores that new answers replace, where the run replaces others, too.

        So `previous` holds all that the run changes.
        """
        if not self._plan.n_stale_scores or not self._plan.n_items:
            return
        asked = {
            (item.llm.id, item.test.test_id, item.trial)
            for work in self._plan.works
            for item in work.items()
        }
        for result in self._store.results():
            if result.failure is None and result.key in asked:
                earlier.keep(result)

    def _find_stale_test(self, result: Result) -> Test | None:
        states = self._plan.states
        if states.find_state(result) is not TrialState.STALE_SCORE:
            return None
        return states.find_test(result)

    def _without_judged(self, results: Iterable[Result], progress: Progress) -> Iterator[Result]:
        """Yield results, but for those that wait for a judge from here on."""
        for result in results:
            test = self._find_stale_test(result)
            if test is None or not result.can_be_scored:
                continue
            if self._scorer.needs_judge(result, test):
                progress.wait_for_judge(result)
            else:
                yield result

    def _ask(self, pool: Pool, progress: Progress, control: RunControl) -> None:
        def ask(items: Sequence[WorkItem]) -> Generator[JobResult[Result], None, None]:
            with closing(self._jobs.run_each(items, progress.run_id, control.cancelled)) as done:
                for result, error in done:
                    yield JobResult(result, error if isinstance(error, ProviderError) else None)

        works = [
            Work(llm=work.llm, items=self._jobs.cut(work), n_items=len(work))
            for work in self._plan.works
        ]
        with closing(pool.run(works, ask)) as events:
            for event in events:
                if isinstance(event, JobDone):
                    progress.add_costs(event.value.cost_usd, event.value.judge_cost_usd)
                    progress.store(event.value)
                else:
                    progress.tell(event)

    def _judge(self, pool: Pool, progress: Progress, control: RunControl) -> None:
        works = group_by_judge(progress.waiting, self._plan.states.find_test, self._scorer)
        if control.cancelled():
            return
        for work in works:
            progress.tell(JudgingStarted(judge_id=work.llm.id, n_items=len(work.waiting)))

        def judge(item: JudgeItem) -> JobResult[Result]:
            result, error = score_again(item, self._scorer, control.cancelled)
            cause = error.__cause__ if error is not None else None
            return JobResult(result, cause if isinstance(cause, ProviderError) else None)

        with closing(pool.run([work.for_pool() for work in works], judge)) as events:
            for event in events:
                if isinstance(event, JobDone):
                    progress.add_costs(event.value.judge_cost_usd)
                    progress.store(event.value)
                elif isinstance(event, LLMUnavailable):
                    progress.tell(_tell_of_judge(event))


class Progress:
    """Stores results, counts them and tells the listener, all in the thread of the run."""

    def __init__(
        self, run_id: str, sink: ResultSink, earlier: EarlierScores, listener: Listener
    ) -> None:
        """Store nothing yet.

        Args:
            run_id: The run that the results belong to.
            sink: Takes the results.
            earlier: Keeps what new scores of old responses replace.
            listener: Hears of everything.
        """
        self.run_id = run_id
        self.tell = listener
        self._sink = sink
        self._earlier = earlier
        self._n_scored = 0
        self._n_failed = 0
        self._cost_usd: float | None = None
        self._renewed: set[_Key] = set()
        self._not_renewed: set[_Key] = set()
        self._waiting: list[Result] = []
        self._stale: dict[_Key, Result] = {}

    @property
    def waiting(self) -> list[Result]:
        """Results whose responses wait for a judge."""
        return [*self._waiting, *self._stale.values()]

    def wait_for_judge(self, result: Result) -> None:
        """Take a stored result whose score only a judge can bring up to date."""
        known = self._stale.get(result.key)
        if known is None or known.timestamp <= result.timestamp:
            self._stale[result.key] = result

    def add_costs(self, *usd: float | None) -> None:
        """Add what requests cost; None where that is unknown."""
        self._cost_usd = sum_known((self._cost_usd, *usd))

    def store(self, result: Result) -> None:
        """Store a result that was just made, then tell of it, once it has been judged.

        Raises:
            StoreError: If it could not be stored.
        """
        stale = self._stale.get(result.key)
        if stale is not None:
            self.store_rescored(result, stale)
            return
        self._sink.append(result)
        if result.failure == WAITS_FOR_JUDGE:
            self._waiting.append(result)
            self.tell(TrialAnswered(llm_id=result.llm_id, test_id=result.test_id))
            return
        self._n_scored += result.failure is None
        self._n_failed += result.failure is not None
        self.tell(TrialFinished(result=result))

    def store_rescored(self, result: Result, old: Result) -> None:
        """Store a result with a new score for an old response, then tell of it.

        What it replaces is kept first. With a failure instead of a score, an earlier score stays.

        Raises:
            StoreError: If it could not be stored.
        """
        if result.failure is None:
            self._earlier.keep(old)
        if result.failure is None or old.failure is not None:
            self._sink.append(result)
        (self._not_renewed if result.failure else self._renewed).add(result.key)
        self.tell(TrialRescored(result=result, old_score=old.score))

    def sum_up(self, n_items: int, *, cancelled: bool) -> RunFinished:
        """Make the event that ends a run of `n_items` trials."""
        not_rescored = (self._not_renewed | set(self._stale)) - self._renewed
        return RunFinished(
            run_id=self.run_id,
            n_scored=self._n_scored,
            n_failed=self._n_failed,
            n_skipped=n_items - self._n_scored - self._n_failed,
            cancelled=cancelled,
            n_rescored=len(self._renewed),
            n_not_rescored=len(not_rescored),
            cost_usd=self._cost_usd,
        )


def _tell_of_judge(event: LLMUnavailable) -> JudgeUnavailable:
    return JudgeUnavailable(
        judge_id=event.llm_id, failure=event.failure, hint=event.hint, n_skipped=event.n_skipped
    )


def _header(plan: Plan, started: str, manager: LLMManager) -> dict[str, Any]:
    """Describe the run as a whole."""
    return {
        "started": started,
        "poor_bench": __version__,
        "llms": {work.llm.id: len(work) for work in plan.works},
        "llm_fingerprints": {work.llm.id: hash_llm(work.llm) for work in plan.works},
        "servers": manager.find_servers(work.llm for work in plan.works),
        "parameters": {work.llm.id: dict(work.llm.parameters) for work in plan.works},
        "n_items": plan.n_items,
        "n_rescored": plan.n_stale_scores,
        "trials": plan.states.trials,
        "choice": dict(plan.choice),
        "machine": collect_machine_facts(),
    }


def _build_start(run_id: str, plan: Plan) -> RunStarted:
    n_by_llm = {work.llm.id: len(work) for work in plan.works}
    return RunStarted(run_id=run_id, n_items=plan.n_items, n_by_llm=n_by_llm)

"""One run: open the journal, bring old scores up to date, work off the lanes, merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from poor_bench import __version__
from poor_bench.llm_manager import LLMManager
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.ports import Listener
from poor_bench.results.store import EarlierScores, ResultStore
from poor_bench.runner.control import RunControl
from poor_bench.runner.events import JudgingStarted, RunFinished, RunStarted
from poor_bench.runner.execute import Executor
from poor_bench.runner.judging import JudgeExecutor, JudgeProgress, JudgeWork, judge_works
from poor_bench.runner.lanes import LaneRunner, lanes_of
from poor_bench.runner.machine_facts import machine_facts
from poor_bench.runner.plan import Plan
from poor_bench.runner.progress import Progress
from poor_bench.runner.rescore import new_run_ids, rescore, to_rescore
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.states import TrialState
from poor_bench.runner.threads import start_thread, wait_for
from poor_bench.runner.work import Execute, Item, Sink, Work
from poor_bench.scoring.fingerprint import llm_fingerprint


class Run:
    """One run of a plan."""

    def __init__(
        self,
        plan: Plan,
        store: ResultStore,
        manager: LLMManager,
        scorer: Scorer,
        executor: Executor,
    ) -> None:
        self._plan = plan
        self._store = store
        self._manager = manager
        self._scorer = scorer
        self._executor = executor

    def run(self, listener: Listener, control: RunControl) -> RunFinished:
        """Run everything that is planned; returns when all of it ended or was stopped.

        Raises:
            StoreError: If a result could not be stored; all that was stored before is kept.
        """
        started = self._manager.clock.now_iso()
        rescores = bool(self._plan.n_stale_scores)
        earlier_id, run_id = new_run_ids(self._store, started, rescores=rescores)
        earlier = EarlierScores(self._store.paths, earlier_id, replaced_by=run_id, started=started)
        journal = self._store.open_run(run_id, _header(self._plan, started))
        progress = Progress(run_id, journal, earlier, listener)
        try:
            progress.tell(_started(run_id, self._plan))
            self._keep_what_is_asked_again(earlier)
            self._rescore(progress, control)
            self._work_off(self._plan.works, self._executor, progress, progress, control)
            self._judge(progress, control)
        finally:
            try:
                earlier.close()
            finally:
                journal.close()
        progress.raise_if_aborted()
        self._store.merge()
        finished = progress.finished(self._plan.n_items, cancelled=control.cancelled())
        progress.tell(finished)
        return finished

    def _rescore(self, progress: Progress, control: RunControl) -> None:
        if not self._plan.n_stale_scores:
            return
        results = self._without_judged(self._store.results(), progress)
        items = to_rescore(results, self._stale_test_of, self._scorer)
        for rescored in rescore(items, self._scorer):
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

    def _stale_test_of(self, result: Result) -> Test | None:
        states = self._plan.states
        if states.state_of(result) is not TrialState.STALE_SCORE:
            return None
        return states.test_of(result)

    def _without_judged(self, results: Iterable[Result], progress: Progress) -> Iterator[Result]:
        """Yield results, but for those that wait for a judge from here on."""
        for result in results:
            test = self._stale_test_of(result)
            if test is None or not result.can_be_scored:
                continue
            if self._scorer.needs_judge(result, test):
                progress.wait_for_judge(result)
            else:
                yield result

    def _judge(self, progress: Progress, control: RunControl) -> None:
        states = self._plan.states
        works = judge_works(progress.waiting, states.test_of, self._scorer)
        if control.cancelled():
            return
        self._make_room_for(works)
        for work in works:
            progress.tell(JudgingStarted(judge_id=work.llm.id, n_items=len(work)))
        executor = JudgeExecutor(self._scorer)
        self._work_off(works, executor, JudgeProgress(progress), progress, control)

    def _make_room_for(self, judges: Sequence[JudgeWork]) -> None:
        """Free the model that each local endpoint was asked last, where a judge's takes its place.

        The lanes have freed all others.
        """
        coming = {self._manager.endpoint_key(work.llm): work.llm.name for work in judges}
        for lane in lanes_of(self._plan.works, self._manager):
            last = lane[-1].llm
            following = coming.get(self._manager.endpoint_key(last), last.name)
            if self._manager.is_local(last) and following != last.name:
                self._manager.unload(last)

    def _work_off(
        self,
        works: Sequence[Work[Item]],
        executor: Execute[Item],
        sink: Sink,
        progress: Progress,
        control: RunControl,
    ) -> None:
        runner = LaneRunner(self._manager, executor, sink, control)
        threads = [
            start_thread(partial(runner.run, lane), f"lane {lane[0].llm.id}", progress, control)
            for lane in lanes_of(works, self._manager)
        ]
        for thread in threads:
            wait_for(thread)


def _header(plan: Plan, started: str) -> dict[str, Any]:
    """Return what is to be known of a run as a whole."""
    return {
        "started": started,
        "poor_bench": __version__,
        "llms": {work.llm.id: len(work) for work in plan.works},
        "llm_fingerprints": {work.llm.id: llm_fingerprint(work.llm) for work in plan.works},
        "n_items": plan.n_items,
        "n_rescored": plan.n_stale_scores,
        "trials": plan.states.trials,
        "machine": machine_facts(),
    }


def _started(run_id: str, plan: Plan) -> RunStarted:
    n_by_llm = {work.llm.id: len(work) for work in plan.works}
    return RunStarted(run_id=run_id, n_items=plan.n_items, n_by_llm=n_by_llm)

"""The batches of one workspace: what commands and screens do with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from poor_bench.config.load import Workspace
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.ports import Listener
from poor_bench.prompts import build_request
from poor_bench.results.store import ResultStore
from poor_bench.runner.batches.collect import BatchCollector, Collected, CollectJobs
from poor_bench.runner.batches.observe import BatchObserver
from poor_bench.runner.batches.submit import PricedItem, Submission, Submitter
from poor_bench.runner.plan import Plan, WorkItem
from poor_bench.runner.run import Run
from poor_bench.runner.scorer import Scorer
from poor_bench.runner.trial_states import TrialName
from poor_bench.runs.batch_notes import BatchNotes

EstimateCosts = Callable[[WorkItem], Iterator[tuple[LLM, float | None]]]


class BatchCost(NamedTuple):
    """What could be asked in batches: estimated costs in US dollars, without judges."""

    batch_usd: float
    live_usd: float
    n_trials: int


class Batches:
    """Submits, collects and cancels; one process at a time."""

    def __init__(
        self,
        workspace: Workspace,
        manager: LLMManager,
        store: ResultStore,
        scorer: Scorer,
        estimate: EstimateCosts,
    ) -> None:
        """Ask nothing yet.

        Args:
            workspace: Its classes, tests and LLMs.
            manager: Asks the providers.
            store: Takes the results.
            scorer: Scores the answers.
            estimate: Yields the LLM of a trial, then its judges, each with its live cost.
        """
        self.notes = BatchNotes(store.paths.batches_dir)
        self.observer = BatchObserver(self.notes, workspace, manager)
        self._workspace = workspace
        self._manager = manager
        self._store = store
        self._scorer = scorer
        self._estimate = estimate

    def has_open(self) -> bool:
        """True if a batch was not collected yet.

        Raises:
            StoreError: If a note cannot be read.
        """
        return bool(self.notes.list_open())

    def list_trials(self) -> Iterator[TrialName]:
        """Yield the trials that are in a batch; raises as `has_open`."""
        for note in self.notes.list_open():
            for test_id, trial in note.items:
                yield TrialName(note.llm_id, test_id, trial)

    def list_tests(self) -> list[Test]:
        """List the tests that are in a batch; raises as `has_open`."""
        known = self._workspace.tests_by_id
        named = {name.test_id for name in self.list_trials()}
        return [known[test_id] for test_id in sorted(named) if test_id in known]

    def estimate(self, plan: Plan) -> BatchCost:
        """Estimate what the part of a plan that can be batched costs, both ways."""
        batch_usd = live_usd = 0.0
        n_trials = 0
        for work in plan.works:
            if self._manager.takes_batches(work.llm):
                n_trials += len(work)
                for priced in map(self._price, work.items()):
                    batch_usd += priced.batch_usd or 0.0
                    live_usd += priced.live_usd or 0.0
        return BatchCost(batch_usd, live_usd, n_trials)

    def submit(
        self, plan: Plan, limit_usd: float = math.inf, cancelled: Callable[[], bool] = lambda: False
    ) -> Submission:
        """Submit what is planned; see `Submitter.submit`."""
        classes = self._workspace.test_classes
        submitter = Submitter(
            self.notes,
            self._manager,
            lambda item: build_request(item.llm, classes[item.test.class_id], item.test),
            self._price,
        )
        return submitter.submit(plan, limit_usd, cancelled)

    def collect(self, listener: Listener, control: RunControl, *, judges: bool = True) -> Collected:
        """Fetch, score and store the answers of all batches that have ended.

        Args:
            listener: Hears of the run that stores them.
            control: Stops it; what is not stored then is collected by the next call.
            judges: False to leave answers that a model judges to the next run.

        Raises:
            StoreError: If notes or results cannot be read or written.
            RunCancelledError: If it was stopped before the answers were fetched.
        """
        collected = Collected()
        collector = BatchCollector(
            self.notes, self.observer, self._workspace, self._manager, self._store
        )
        fetched = collector.fetch(collected, control.cancelled)
        if not fetched:
            return collected
        chosen = collector.plan(fetched, collected)
        plan = chosen.build()
        if plan.n_items:
            jobs = CollectJobs(self._workspace, self._manager, self._scorer, chosen)
            facts = {"via": "batch", "batches": [answers.note.key for answers in fetched]}
            run = Run(
                plan, self._store, self._manager, self._scorer, jobs, judges=judges, facts=facts
            )
            finished = run.run(collector.note_run(fetched, listener), control)
            collected.n_scored, collected.n_failed = finished.n_scored, finished.n_failed
        collected.is_stopped = control.cancelled()
        if not collected.is_stopped:
            collector.close(fetched, chosen)
        return collected

    def _price(self, item: WorkItem) -> PricedItem:
        (llm, live_usd), *judges = self._estimate(item)
        batch_usd = None if live_usd is None else live_usd * llm.prices.batch
        return PricedItem(item, batch_usd, live_usd, sum(usd or 0.0 for _, usd in judges))

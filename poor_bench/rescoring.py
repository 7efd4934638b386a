"""Scoring stored responses again with today's evaluators, and undoing that."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

from poor_bench.command_line import next_command
from poor_bench.errors import ConfigError
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.resolver import ResultSetResolver
from poor_bench.runner.jobs import CostEstimate, JudgeItem, estimate_judging
from poor_bench.runner.rescore import (
    Rescored,
    RescorePlan,
    RescoreRun,
    find_undoable,
    rescore,
    rescore_by_judges,
    to_rescore,
)
from poor_bench.runner.selection import Selection, select
from poor_bench.runs.history import UNDO, make_run_id
from poor_bench.workspace_runner import WorkspaceRunner


class Rescoring:
    """Scores the stored responses of one workspace again."""

    def __init__(self, runner: WorkspaceRunner) -> None:
        """Use the evaluators, judges and store of a runner; its owner closes it."""
        self._runner = runner
        self.manager = runner.manager
        self._store = runner.config.store

    def plan(self, selection: Selection) -> RescorePlan:
        """Find the stored responses that `rescore` scores again, and which of them LLMs judge.

        Raises:
            ConfigError: If a filter matches nothing.
            StoreError: If the stored results cannot be read.
        """
        n_items, judged = 0, []
        for item in self._to_rescore(selection):
            n_items += 1
            if self._runner.scorer.needs_judge(item.result, item.test):
                judged.append(item)
        return RescorePlan(selection=selection, n_items=n_items, judged=tuple(judged))

    def rescore(self, plan: RescorePlan) -> Generator[Rescored, None, None]:
        """Yield what today's evaluators make of stored responses; nothing is stored.

        Those that LLMs judge come last, as each of them is judged.

        Raises:
            ConfigError: If a judge, its key or a rubric is missing; nothing was asked then.
            StoreError: If the stored results cannot be read.
        """
        self._runner.scorer.require_judges(item.test for item in plan.judged)
        self._runner.require_sandbox(select(self._runner.workspace, plan.selection).tests)
        waiting = {item.result.key for item in plan.judged}
        items = (i for i in self._to_rescore(plan.selection) if i.result.key not in waiting)
        yield from self._runner.workforce.rescore(items, self._runner.scorer)
        yield from rescore_by_judges(plan.judged, self._runner.scorer, self.manager)

    def estimate(self, plan: RescorePlan) -> CostEstimate:
        """Estimate what judging stored responses again will cost, without requests.

        Raises:
            ConfigError: If a judge or a rubric cannot be used.
        """
        return estimate_judging(plan.judged, self._runner.scorer, self._runner.judges)

    def _to_rescore(self, selection: Selection) -> Iterator[JudgeItem]:
        is_chosen = self._make_filter(selection)

        def find_test(result: Result) -> Test | None:
            return self._find_known_test(result) if is_chosen(result) else None

        return to_rescore(self._store.results(), find_test, self._runner.scorer)

    def rescore_stored(self, result: Result) -> Rescored:
        """Score one stored response with today's evaluator, and store its new score.

        Raises:
            ConfigError: If its test is gone, it holds no response, or a model judges it, which may
                cost money; nothing changed then.
            StoreError: If the score could not be stored.
        """
        items = list(to_rescore([result], self._find_known_test, self._runner.scorer))
        if not items:
            raise ConfigError("there is nothing to score: the test or the response is missing")
        if self._runner.scorer.needs_judge(result, items[0].test):
            hint = f"Run {next_command('rescore --test', result.test_id)}: it names the cost first."
            raise ConfigError("a model judges this answer, which may cost money", hint=hint)
        self._runner.require_sandbox([items[0].test])
        return next(iter(list(self.store_each(rescore(items, self._runner.scorer)))))

    def _find_known_test(self, result: Result) -> Test | None:
        return self._runner.workspace.tests_by_id.get(result.test_id)

    def store_each(self, rescored: Iterable[Rescored]) -> Generator[Rescored, None, None]:
        """Yield what `rescore` yields, each new score stored as soon as it is there.

        The earlier scores are kept as a run of their own; see `undo_rescore`.

        Raises:
            StoreError: If a score could not be stored.
        """
        run = RescoreRun(self._store, self.manager.clock.now_iso())
        try:
            for item in rescored:
                run.store(item)
                yield item
        finally:
            run.close()

    def plan_undo(self, selection: Selection | None = None) -> list[Rescored]:
        """Find the earlier scores of the newest rescoring that was not undone, as `new`.

        Trials that were asked again since are left out.

        Args:
            selection: Which trials; all by default.

        Raises:
            ConfigError: If a filter matches nothing, or no rescoring is left to undo.
            StoreError: If the results or the kept runs cannot be read.
        """
        is_chosen = self._make_filter(selection) if selection else lambda _result: True
        present = {
            result.key: result
            for result in self._store.results()
            if result.failure is None and is_chosen(result)
        }
        undone = find_undoable(ResultSetResolver(self._runner.config).rescorings(), present)
        if not undone:
            raise ConfigError("no rescoring is left to undo")
        return undone

    def undo(self, undone: Iterable[Rescored]) -> None:
        """Store the earlier scores that `plan_undo` found, as a run of their own.

        Raises:
            StoreError: If they could not be stored.
        """
        started = self.manager.clock.now_iso()
        store = self._store
        header = {"started": started, "kind": UNDO}
        results = [item.new for item in undone if item.new is not None]
        store.add(results, make_run_id(started, store.newest_run_id()), header)

    def _make_filter(self, selection: Selection) -> Callable[[Result], bool]:
        chosen = select(self._runner.workspace, selection)
        llm_ids = {llm.id for llm in chosen.llms}
        test_ids = {test.test_id for test in chosen.tests}
        return lambda result: result.llm_id in llm_ids and result.test_id in test_ids

"""Runs variants on tests as ordinary runs, and knows what each has scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from poor_bench.config.load import Workspace
from poor_bench.llm_manager import LLMManager
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import LLMUnavailable
from poor_bench.runner.events import RunEvent, TrialFinished
from poor_bench.runner.plan import Plan, TrialState, TrialStates, make_plan
from poor_bench.tuning.assembly import Assembly
from poor_bench.tuning.params.variants import Variant
from poor_bench.tuning.result_cost import n_calls_of, result_cost_usd
from poor_bench.tuning.spending import Spending
from poor_bench.tuning.stopping import SearchStoppedError, StopReason
from poor_bench.tuning.tuning_file import TuningFile
from poor_bench.workspace_folder import WorkspaceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTools:
    """Components of a sweep."""

    config: WorkspaceFolder
    manager: LLMManager
    file: TuningFile
    spending: Spending
    control: RunControl
    tell: Callable[[RunEvent], None] = lambda _event: None


class Race:
    """The variants of a sweep on their way through its tests."""

    def __init__(self, tools: SweepTools) -> None:
        self._tools = tools
        self.results: dict[str, dict[str, Result]] = {}
        """Variant id to test id to its newest result."""
        self.unavailable: dict[str, str] = {}
        """Variant id to the reason of its failure."""

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """Variant id to test id to score; failures are left out."""
        return {
            variant_id: {
                test_id: result.score for test_id, result in own.items() if result.score is not None
            }
            for variant_id, own in self.results.items()
        }

    def advance(self, variants: Sequence[Variant], tests: Sequence[Test]) -> None:
        """Run some tests with some variants; stored results are reused.

        Raises:
            SearchStoppedError: If the limits allow no more tests, no variant could be asked, or
                the user stopped it; what was run is stored all the same.
            StoreError: If a result could not be stored.
        """
        parts = Assembly(self._tools.config, self._tools.manager, self._workspace_with(variants))
        affordable = self._affordable(variants, tests, parts)
        plan = self._plan(variants, affordable, parts)
        self._tools.spending.require(plan.n_items * _n_calls_per_test(tests, parts))
        if not plan.is_empty:
            self._run(plan, parts)
        self._take_results(variants, affordable, parts)
        self._stop_if_over(variants, affordable)
        if len(affordable) < len(tests):
            raise SearchStoppedError(
                StopReason.BUDGET, "the remaining calls are too few for another step"
            )

    def _affordable(
        self, variants: Sequence[Variant], tests: Sequence[Test], parts: Assembly
    ) -> Sequence[Test]:
        """Limit the tests to the remaining calls."""
        n_left = self._tools.spending.n_left
        per_test = _n_calls_per_test(tests, parts)
        if n_left is None or self._plan(variants, tests, parts).n_items * per_test <= n_left:
            return tests
        return tests[: n_left // (len(variants) * per_test)]

    def _plan(self, variants: Sequence[Variant], tests: Sequence[Test], parts: Assembly) -> Plan:
        states = TrialStates([variant.llm for variant in variants], tests, 1)
        states.note_all(self._tools.config.store.results(), parts.fingerprints)
        return make_plan(states)

    def _run(self, plan: Plan, parts: Assembly) -> None:
        finished = parts.run(plan, self._listen, self._tools.control)
        llm_ids = [work.llm.id for work in plan.works]
        record = {"run_id": finished.run_id, "variants": llm_ids}
        self._tools.file.append("rung", record)

    def _listen(self, event: RunEvent) -> None:
        spending = self._tools.spending
        if isinstance(event, TrialFinished):
            spending.note(result_cost_usd(event.result), n_calls_of(event.result))
        elif isinstance(event, LLMUnavailable):
            self.unavailable[event.llm_id] = event.failure.message
        self._tools.tell(event)

    def _take_results(
        self, variants: Sequence[Variant], tests: Sequence[Test], parts: Assembly
    ) -> None:
        """Use stored results of the current prompts and parameters."""
        states = TrialStates([variant.llm for variant in variants], tests, 1)
        stored = list(self._tools.config.store.results())
        states.note_all(stored, parts.fingerprints)
        for result in stored:
            state = states.state_of(result)
            if state is not None and (state is TrialState.DONE) == (result.failure is None):
                self.results.setdefault(result.llm_id, {})[result.test_id] = result

    def _stop_if_over(self, variants: Sequence[Variant], tests: Sequence[Test]) -> None:
        budget = self._tools.manager.budget
        if budget is not None and budget.is_reached:
            raise SearchStoppedError(StopReason.COST, str(budget))
        if self._tools.control.cancelled():
            raise SearchStoppedError(StopReason.CANCELLED, "")
        scored = [
            test.test_id in self.scores.get(variant.id, {})
            for variant in variants
            for test in tests
        ]
        if scored and not any(scored):
            why = next(iter(self.unavailable.values()), "nothing was scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)

    def _workspace_with(self, variants: Sequence[Variant]) -> Workspace:
        workspace = self._tools.config.workspace
        added = {variant.id: variant.llm for variant in variants}
        by_id = {**workspace.llms_by_id, **added}
        return replace(workspace, llms=tuple(by_id.values()), llms_by_id=by_id)


def _n_calls_per_test(tests: Sequence[Test], parts: Assembly) -> int:
    """Requests per test: one, and one for a judge."""
    return 2 if any(map(parts.scorer.is_judged, tests)) else 1

"""A sweep: its tests in steps, and its variants on their way through them, as ordinary runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from poor_bench.config.load import Workspace
from poor_bench.errors import CallLimitError, CostLimitError, RunCancelledError
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.events import LLMUnavailable
from poor_bench.prompts.fingerprint import hash_text
from poor_bench.runner.events import RunEvent, RunStarted, TrialFinished
from poor_bench.runner.plan import make_plan
from poor_bench.runner.trial_states import TrialState, TrialStates
from poor_bench.tuning.params.ranking import find_losers
from poor_bench.tuning.params.variants import Variant, make_entry
from poor_bench.tuning.searches import SearchStoppedError, SearchTools, StopReason, count_calls
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

FIRST_RUNG = 6
"""Tests before the first variant can be dropped."""
GROWTH = 2


def split_into_rungs(tests: Sequence[Test], seed: int) -> list[list[Test]]:
    """Split the tests into steps, each about as large as all before.

    Every step mixes classes and levels as the whole does: tests of each class and level are put in
    the order of a hash of seed and id, and are dealt out evenly.

    Example:
        >>> tests = [Test(test_id=str(n), class_id="c", level=1, text="t") for n in range(16)]
        >>> [len(rung) for rung in split_into_rungs(tests, seed=0)]
        [6, 6, 4]
    """
    ordered = _mix(tests, seed)
    rungs = []
    done, size = 0, FIRST_RUNG
    while done < len(ordered):
        rungs.append(ordered[done : done + size])
        done += size
        size = done * (GROWTH - 1)
    return rungs


def _mix(tests: Sequence[Test], seed: int) -> list[Test]:
    strata: dict[tuple[str, int], list[Test]] = {}
    for test in sorted(tests, key=lambda test: hash_text(f"{seed} {test.test_id}")):
        strata.setdefault((test.class_id, test.level), []).append(test)
    places = [
        ((position + 0.5) / len(stratum), hash_text(f"{seed} {test.test_id}"), test)
        for stratum in strata.values()
        for position, test in enumerate(stratum)
    ]
    return [test for _, _, test in sorted(places, key=lambda place: place[:2])]


class Sweep:
    """The variants of one LLM on their way through the tests.

    Attributes:
        base: The LLM as it is; it runs all tests.
        rungs: The tests in steps.
        variants: Id to variant, in the order in which they came; the base first.
        dropped: Id of each dropped variant to the one that was ahead.
    """

    def __init__(
        self,
        config: WorkspaceFolder,
        tools: SearchTools,
        base: LLM,
        rungs: Sequence[Sequence[Test]],
        tell: Callable[[RunEvent], None] = lambda _event: None,
    ) -> None:
        """Prepare a sweep.

        Args:
            config: The workspace; its evaluators and its store are used.
            tools: Asks the models, counts calls, keeps what happens.
            base: The LLM as it is.
            rungs: The tests in steps.
            tell: Hears of every run.
        """
        self._config = config
        self._tools = tools
        self._tell = tell
        self._found: dict[str, dict[str, Result]] = {}
        """Variant id to test id to its newest result."""
        self._unavailable: dict[str, str] = {}
        """Variant id to the reason why it cannot be asked."""
        self.base = Variant(llm=base, choice={})
        self.rungs = rungs
        self._tests_by_id = {test.test_id: test for rung in rungs for test in rung}
        self.variants = {base.id: self.base}
        self.dropped: dict[str, str] = {}

    @property
    def results(self) -> dict[str, list[Result]]:
        """Variant id to its results so far."""
        return {name: list(self._found.get(name, {}).values()) for name in self.variants}

    def scores(self, variant_id: str) -> dict[str, float]:
        """Scores of a variant by test, without failures; empty before the first."""
        found = self._found.get(variant_id, {}).items()
        return {test_id: result.score for test_id, result in found if result.score is not None}

    def is_whole(self, variant_id: str) -> bool:
        """True if a variant has a score for every test."""
        return len(self.scores(variant_id)) == sum(len(rung) for rung in self.rungs)

    def add(self, variant: Variant) -> None:
        """Add a variant to the sweep, and keep what it is like."""
        self.variants[variant.id] = variant
        entry = make_entry(variant.llm)
        record = {"id": variant.id, "choice": variant.choice, "entry": entry}
        self._tools.file.append("variant", record)

    def advance(self, running: Sequence[Variant], rung: Sequence[Test]) -> list[Variant]:
        """Run some tests, and find the variants that could run; stored results are reused.

        Raises:
            SearchStoppedError: If no variant could be asked, or the base could not: there is
                nothing to compare with. What was run is stored all the same.
            RunCancelledError: If the limits allow no more tests, or the user stopped it.
            StoreError: If a result could not be stored.
        """
        runner = WorkspaceRunner(
            self._config, self._tools.manager, workspace=self._workspace_with(running)
        )
        calls_per_test = 2 if any(map(runner.scorer.is_judged, rung)) else 1
        tests = self._affordable(running, rung, runner, calls_per_test)
        plan = make_plan(self._states(running, tests, runner))
        self._tools.budget.require_calls(plan.n_items * calls_per_test)
        if not plan.is_empty:
            runner.run(plan, self._listen, self._tools.control)
        self._take_results(running, tests, runner)
        self._stop_if_over(running, tests)
        if len(tests) < len(rung):
            raise CallLimitError("the remaining calls are too few for another step")
        if not self.scores(self.base.id):
            why = self._unavailable.get(self.base.id, "no test could be scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)
        return [variant for variant in running if self.scores(variant.id)]

    def drop_losers(self, running: Sequence[Variant]) -> list[Variant]:
        """Select the remaining variants; record why others are dropped."""
        scores = {variant.id: self.scores(variant.id) for variant in running}
        dropped = find_losers(scores, {self.base.id}, self._tests_by_id)
        for loser in dropped:
            behind = asdict(loser.behind)
            record = {"id": loser.variant_id, "leader": loser.leader_id, "behind": behind}
            self._tools.file.append("dropped", record)
            self.dropped[loser.variant_id] = loser.leader_id
        return [variant for variant in running if variant.id not in self.dropped]

    def _affordable(
        self,
        variants: Sequence[Variant],
        tests: Sequence[Test],
        runner: WorkspaceRunner,
        calls_per_test: int,
    ) -> Sequence[Test]:
        """Limit the tests to the remaining calls."""
        n_left = self._tools.budget.n_calls_left
        if n_left is None:
            return tests
        n_items = make_plan(self._states(variants, tests, runner)).n_items
        if n_items * calls_per_test <= n_left:
            return tests
        return tests[: n_left // (len(variants) * calls_per_test)]

    def _states(
        self, variants: Sequence[Variant], tests: Sequence[Test], runner: WorkspaceRunner
    ) -> TrialStates:
        states = TrialStates([variant.llm for variant in variants], tests, 1)
        states.note_all(self._config.store.results(), runner.fingerprints)
        return states

    def _listen(self, event: RunEvent) -> None:
        if isinstance(event, RunStarted):
            record = {"run_id": event.run_id, "variants": list(event.n_by_llm)}
            self._tools.file.append("rung", record)
        elif isinstance(event, TrialFinished):
            self._tools.budget.count_calls(count_calls(event.result))
        elif isinstance(event, LLMUnavailable):
            self._unavailable[event.llm_id] = event.failure.message
        self._tell(event)

    def _take_results(
        self, variants: Sequence[Variant], tests: Sequence[Test], runner: WorkspaceRunner
    ) -> None:
        """Use stored results of the current prompts and parameters."""
        states = self._states(variants, tests, runner)
        for result in self._config.store.results():
            state = states.find_state(result)
            if state is not None and (state is TrialState.DONE) == (result.failure is None):
                self._found.setdefault(result.llm_id, {})[result.test_id] = result

    def _stop_if_over(self, variants: Sequence[Variant], tests: Sequence[Test]) -> None:
        if self._tools.budget.is_reached:
            raise CostLimitError(str(self._tools.budget))
        if self._tools.control.cancelled():
            raise RunCancelledError("")
        ids = {test.test_id for test in tests}
        if ids and not any(ids & self.scores(variant.id).keys() for variant in variants):
            why = next(iter(self._unavailable.values()), "nothing was scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)

    def _workspace_with(self, variants: Sequence[Variant]) -> Workspace:
        workspace = self._config.workspace
        by_id = {**workspace.llms_by_id, **{variant.id: variant.llm for variant in variants}}
        return replace(workspace, llms=tuple(by_id.values()), llms_by_id=by_id)

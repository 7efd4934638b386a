"""A sweep: its tests in steps, and its variants on their way through them, as ordinary runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from poor_bench.config.load import Workspace
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.control import RunControl
from poor_bench.pool.events import LLMUnavailable
from poor_bench.runner.events import RunEvent, TrialFinished
from poor_bench.runner.plan import Plan, TrialState, TrialStates, make_plan
from poor_bench.tuning.assembly import Assembly, n_calls_of, result_cost_usd
from poor_bench.tuning.params.ranking import Dropped, losers
from poor_bench.tuning.params.variants import Variant, entry_of
from poor_bench.tuning.searches import SearchStoppedError, StopReason, TuningFile
from poor_bench.tuning.spending import Spending
from poor_bench.workspace_folder import WorkspaceFolder

FIRST_RUNG = 6
"""Tests before the first variant can be dropped."""
GROWTH = 2


def rungs_of(tests: Sequence[Test], seed: int) -> list[list[Test]]:
    """Split the tests into steps, each about as large as all before.

    Every step mixes classes and levels as the whole does: tests of each class and level are put in
    the order of a hash of seed and id, and are dealt out evenly.

    Example:
        >>> tests = [Test(test_id=str(n), class_id="c", level=1, text="t") for n in range(16)]
        >>> [len(rung) for rung in rungs_of(tests, seed=0)]
        [6, 6, 4]
    """
    ordered = _mixed(tests, seed)
    rungs = []
    done, size = 0, FIRST_RUNG
    while done < len(ordered):
        rungs.append(ordered[done : done + size])
        done += size
        size = done * (GROWTH - 1)
    return rungs


def _mixed(tests: Sequence[Test], seed: int) -> list[Test]:
    strata: dict[tuple[str, int], list[Test]] = {}
    for test in sorted(tests, key=lambda test: _hash(test.test_id, seed)):
        strata.setdefault((test.class_id, test.level), []).append(test)
    places = [
        ((position + 0.5) / len(stratum), _hash(test.test_id, seed), test)
        for stratum in strata.values()
        for position, test in enumerate(stratum)
    ]
    return [test for _, _, test in sorted(places, key=lambda place: place[:2])]


def _hash(test_id: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {test_id}".encode()).hexdigest()


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


class Sweep:
    """The variants of one LLM and their race.

    Attributes:
        base: The LLM as it is; it runs all tests.
        rungs: The tests in steps.
        variants: Id to variant, in the order in which they came; the base first.
    """

    def __init__(self, tools: SweepTools, base: LLM, rungs: Sequence[Sequence[Test]]) -> None:
        """Prepare a sweep.

        Args:
            tools: What it works with.
            base: The LLM as it is.
            rungs: The tests in steps.
        """
        self._tools = tools
        self._race = Race(tools)
        self.base = Variant(llm=base, choice={})
        self.rungs = rungs
        self.variants = {base.id: self.base}

    @property
    def results(self) -> dict[str, list[Any]]:
        """Variant id to its results so far."""
        found = self._race.results
        return {
            variant_id: list(found.get(variant_id, {}).values()) for variant_id in self.variants
        }

    def scores(self, variant_id: str) -> Mapping[str, float]:
        """Scores of a variant by test; empty before the first."""
        return self._race.scores.get(variant_id, {})

    def is_whole(self, variant_id: str) -> bool:
        """True if a variant has a score for every test."""
        return len(self.scores(variant_id)) == sum(len(rung) for rung in self.rungs)

    def add(self, variant: Variant) -> None:
        """Take a variant into the race, and keep what it is like."""
        self.variants[variant.id] = variant
        entry = entry_of(variant.llm)
        record = {"id": variant.id, "choice": variant.choice, "entry": entry}
        self._tools.file.append("variant", record)

    def advance(self, running: Sequence[Variant], rung: Sequence[Test]) -> list[Variant]:
        """Run some tests; return the variants that could run.

        Raises:
            SearchStoppedError: If it cannot go on. That the LLM as it is cannot be asked is a
                reason: there is nothing to compare with.
            StoreError: If something could not be stored.
        """
        self._race.advance(running, rung)
        if not self.scores(self.base.id):
            why = self._race.unavailable.get(self.base.id, "no test could be scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)
        return [variant for variant in running if self.scores(variant.id)]

    def drop_losers(self, running: Sequence[Variant]) -> list[Variant]:
        """Select the remaining variants; record why others are dropped."""
        scores = {variant.id: self.scores(variant.id) for variant in running}
        dropped = losers(scores, kept={self.base.id})
        for loser in dropped:
            self._tools.file.append("dropped", _record(loser))
        gone = {loser.variant_id for loser in dropped}
        return [variant for variant in running if variant.id not in gone]


def _record(loser: Dropped) -> dict[str, Any]:
    return {
        "id": loser.variant_id,
        "leader": loser.leader_id,
        "behind": asdict(loser.behind),
    }

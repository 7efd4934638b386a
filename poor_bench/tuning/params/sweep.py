"""Common state of both searches: variants, race, dropped variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.tuning.params.race import Race, SweepTools
from poor_bench.tuning.params.racing import Dropped, losers
from poor_bench.tuning.params.variants import Variant, entry_of
from poor_bench.tuning.stopping import SearchStoppedError, StopReason


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

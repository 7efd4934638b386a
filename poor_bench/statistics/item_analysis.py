"""Everything that the results of all models say about the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poor_bench.models.test import Test
from poor_bench.statistics.item_response import ItemResponse, fit_item_response
from poor_bench.statistics.items import Item, LevelOrder, analyse_outcomes, level_orders
from poor_bench.statistics.outcomes import Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnalysis:
    """Figures of and findings about tests."""

    items: tuple[Item, ...]
    """Tests with a scored trial, in order of first appearance."""
    orders: tuple[LevelOrder, ...]
    """Classes in order of first appearance."""
    response: ItemResponse | None
    """None while there are too few models, see `fit_item_response`."""
    n_models: int
    """Different models with results."""

    @property
    def suspicions(self) -> dict[str, str]:
        """Test id to the reasons against the test, where there are any."""
        return {item.test_id: item.suspicion for item in self.items if item.suspicion}


def analyse_tests(outcomes: Outcomes, tests: Mapping[str, Test]) -> ItemAnalysis:
    """Analyse the tests of some outcomes.

    Args:
        outcomes: Scored trials of all models.
        tests: Test id to test.
    """
    items = analyse_outcomes(outcomes, tests)
    return ItemAnalysis(
        items=tuple(items),
        orders=tuple(level_orders(items)),
        response=fit_item_response(outcomes),
        n_models=len(outcomes.models),
    )

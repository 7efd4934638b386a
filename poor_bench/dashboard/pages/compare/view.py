"""From the services to the parts of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.pages.compare.class_map import class_map
from poor_bench.dashboard.pages.compare.layout import filter_chips
from poor_bench.dashboard.pages.compare.listed_tests import PAGE_SIZE, listed_tests
from poor_bench.dashboard.pages.compare.panel import panel
from poor_bench.dashboard.pages.compare.selection import CompareSelection
from poor_bench.dashboard.pages.compare.strip import StripLine
from poor_bench.dashboard.services.compared_tests import compared_tests
from poor_bench.dashboard.services.comparisons import against_base, class_scores
from poor_bench.dashboard.services.grid_filter import Show, of_interest, ordered
from poor_bench.dashboard.services.time_split import time_split
from poor_bench.statistics.comparison import Comparison
from poor_bench.statistics.ranking import tie_letters

if TYPE_CHECKING:
    import numpy as np
    from dash.development.base_component import Component
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.compare_service import CompareService
    from poor_bench.dashboard.services.services import Services
    from poor_bench.dashboard.services.trial_grid import TrialGrid


class CompareView:
    """One state of the page over one state of the results."""

    def __init__(
        self, services: Services, compare: CompareService, selection: CompareSelection
    ) -> None:
        self._services = services
        self._compare = compare
        self._tests = services.workspace().tests_by_id
        self.selection = selection
        self.columns = selection.columns(compare.best_first())

    def strip_lines(self, comparison: Comparison | None) -> list[StripLine]:
        """Return what the lines of the LLMs show; `comparison` is None while it is computed."""
        table, names = self._services.table(), self._services.name
        summaries = self._compare.summaries(self.columns)
        against = against_base(comparison, self.columns[0]) if comparison else {}
        letters = tie_letters(comparison.groups) if comparison else {}
        return [
            StripLine(
                llm_id=llm_id,
                name=names(llm_id),
                number=number,
                summary=summaries.get(llm_id),
                against=against.get(llm_id),
                letters=letters.get(llm_id, ""),
                time=time_split(table, llm_id),
            )
            for number, llm_id in enumerate(self.columns)
        ]

    def classes(self) -> Component:
        """Return the scores by class."""
        names = [self._services.name(llm_id) for llm_id in self.columns]
        return class_map(class_scores(self._grid(), self._tests), names, self.selection)

    def chips(self) -> list[Component]:
        """Return the switches above the tests."""
        grid = self._grid()
        lines = self._compare.lines(grid, self.selection.filter)
        counts = {show: len(of_interest(grid, lines, show)) for show in Show}
        return filter_chips(counts, self._levels(grid), self.selection)

    def tests(self) -> Component:
        """Return one page of the tests."""
        grid, lines = self._grid(), self.lines()
        start = (self.selection.page - 1) * PAGE_SIZE
        rows = compared_tests(grid, lines[start : start + PAGE_SIZE], self._tests)
        return listed_tests(rows, self._services.name, self.selection, len(lines))

    def panel(self) -> list[Component] | None:
        """Return the test that is open, or None."""
        grid, test_id = self._grid(), self.selection.test
        if test_id not in grid.test_ids:
            return None
        line = grid.test_ids.index(test_id)
        [row] = compared_tests(grid, [line], self._tests)
        neighbours = self._neighbours(grid, line)
        return panel(row, self._compare.details, self._services.name, self.selection, neighbours)

    def score_rows(self) -> list[dict[str, Any]]:
        """Return all tests that the filters find, with the score of every LLM."""
        grid = self._grid()
        return [
            {"test_id": grid.test_ids[line]}
            | {
                llm_id: None if math.isnan(score) else score
                for llm_id, score in zip(grid.llm_ids, grid.scores[line].tolist(), strict=True)
            }
            for line in self.lines()
        ]

    def class_rows(self) -> list[dict[str, Any]]:
        """Return one row for each class and LLM."""
        rows = []
        for class_id, scores in class_scores(self._grid(), self._tests).items():
            for llm_id, of_class in zip(self.columns, scores, strict=True):
                row = {"class_id": class_id, "llm_id": llm_id, "score": of_class.score}
                seen = of_class.against_base
                if seen is not None:
                    row |= {"difference": seen.value, "low": seen.low, "high": seen.high}
                rows.append(row)
        return rows

    def lines(self) -> NDArray[np.int64]:
        """Return the lines of the grid that are listed, in their order."""
        grid = self._grid()
        lines = self._compare.lines(grid, self.selection.filter)
        return ordered(grid, of_interest(grid, lines, self.selection.show), self.selection.order)

    def _grid(self) -> TrialGrid:
        return self._compare.grid(self.columns)

    def _levels(self, grid: TrialGrid) -> list[int]:
        known = (self._tests.get(test_id) for test_id in grid.test_ids)
        return sorted({test.level for test in known if test is not None})

    def _neighbours(self, grid: TrialGrid, line: int) -> tuple[str, str]:
        listed: Sequence[int] = self.lines().tolist()
        if line not in listed:
            return "", ""
        place = listed.index(line)
        before = grid.test_ids[listed[place - 1]] if place else ""
        after = grid.test_ids[listed[place + 1]] if place + 1 < len(listed) else ""
        return before, after

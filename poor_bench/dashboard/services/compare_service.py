"""What the comparison of some LLMs needs, kept for the states that were asked for last."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from cachetools import LRUCache

from poor_bench.dashboard.services.comparisons import Comparisons
from poor_bench.dashboard.services.grid_filter import GridFilter, lines_of
from poor_bench.dashboard.services.result_details import ResultDetails, details_of
from poor_bench.dashboard.services.trial_grid import TrialGrid, trial_grid
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.computations import Computed
    from poor_bench.dashboard.services.stored_results import StoredResults
    from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
    from poor_bench.models.result import Result
    from poor_bench.statistics.comparison import Comparison

_KEPT = 16


class CompareService:
    """Grids and comparisons of chosen LLMs; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch, results: StoredResults) -> None:
        self._files = files
        self._results = results
        self._comparisons = Comparisons()
        self._lock = threading.Lock()
        self._grids: LRUCache[Hashable, TrialGrid] = LRUCache(_KEPT)
        self._lines: LRUCache[Hashable, NDArray[np.int64]] = LRUCache(_KEPT)

    def best_first(self) -> tuple[str, ...]:
        """Return all LLMs with results, the highest mean score first."""
        scores = {
            llm_id: summary.score.value if summary.score else -1.0
            for llm_id, summary in self.summaries(self._results.table().llm_ids).items()
        }
        return tuple(sorted(scores, key=lambda llm_id: -scores[llm_id]))

    def summaries(self, llm_ids: Sequence[str]) -> dict[str, Summary]:
        """Return the figures of some LLMs; those without results are missing."""
        found = self._results.summaries(GroupBy.LLM, llm_ids)
        return {summary.group.llm_id: summary for summary in found}

    def comparison(self, llm_ids: Sequence[str]) -> Computed[Comparison]:
        """Return what is known by now of all pairs of some LLMs."""
        return self._comparisons.compare(self._results.table(), llm_ids)

    def grid(self, llm_ids: Sequence[str]) -> TrialGrid:
        """Return the trials of some LLMs, the first one being the base."""
        table, workspace = self._results.table(), self._files.workspace()
        key = (table.version, id(workspace), tuple(llm_ids))
        with self._lock:
            grid = self._grids.get(key)
            if grid is None:
                grid = trial_grid(table, workspace.tests_by_id, llm_ids)
                self._grids[key] = grid
            return grid

    def lines(self, grid: TrialGrid, wanted: GridFilter) -> NDArray[np.int64]:
        """Return the lines of a grid that pass a filter."""
        workspace = self._files.workspace()
        key = (grid.table.version, id(workspace), grid.llm_ids, wanted)
        with self._lock:
            lines = self._lines.get(key)
        if lines is None:
            lines = lines_of(grid, workspace.tests_by_id, wanted)
            with self._lock:
                self._lines[key] = lines
        return lines

    def details(self, result: Result) -> ResultDetails:
        """Return a trial with what belongs to it, without its issues."""
        return details_of(result, self._files.workspace())

"""The stored results of a workspace, and every figure that pages show of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.services.counted_results import CountedResults, coverages_in
from poor_bench.dashboard.services.failures import FailureGroup, failure_groups
from poor_bench.dashboard.services.repeated_trials import reliability_of
from poor_bench.dashboard.services.result_cache import ResultCache
from poor_bench.dashboard.services.result_table import ResultTable
from poor_bench.dashboard.services.summary_cache import SummaryCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
    from poor_bench.statistics.repeats import Reliability
    from poor_bench.statistics.scores import Coverage
    from poor_bench.statistics.summary import GroupBy, Summary


class StoredResults:
    """Results as they are in the files now; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch) -> None:
        self._files = files
        self._results = ResultCache(files.store)
        self._counted = CountedResults()
        self._summaries = SummaryCache()

    def table(self) -> ResultTable:
        """Results of the tests in the workspace: those that count."""
        return self._counted.table(self.stored(), self._files.workspace().tests_by_id)

    def stored(self) -> ResultTable:
        """All stored results, also those of removed tests, which count in no figure."""
        return self._results.table()

    def n_removed(self) -> int:
        """Count the results of removed tests."""
        return len(self.stored()) - len(self.table())

    def coverages(self) -> dict[str, Coverage]:
        """Count by LLM the tests with a score, out of all tests with a score."""
        return coverages_in(self.table())

    def summaries(self, by: GroupBy, llm_ids: Sequence[str] | None = None) -> list[Summary]:
        """Summarise some LLMs, or all that have results."""
        tests = self._files.workspace().tests_by_id
        return self._summaries.summaries(self.table(), tests, by, llm_ids)

    def reliability(self, llm_id: str) -> Reliability | None:
        """Measure reliability over repeated trials; None if no test was repeated."""
        return reliability_of(self.table(), llm_id)

    def failures(self) -> list[FailureGroup]:
        """Group the trials that failed to run, by LLM and reason."""
        return failure_groups(self.table())

    def write_some(self) -> bool:
        """Move some texts from memory to disk; False if none is left."""
        return self._results.write_some()

    def forget(self) -> None:
        """Read everything again when it is next asked for."""
        self._results.forget()

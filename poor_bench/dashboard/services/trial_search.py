"""Trials that filters find, and everything about one of them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from cachetools import LRUCache

from poor_bench.dashboard.services.found import Found
from poor_bench.dashboard.services.result_details import ResultDetails, details_of
from poor_bench.dashboard.services.result_query import ResultQuery, find_rows
from poor_bench.dashboard.services.result_table import TrialKey

if TYPE_CHECKING:
    from collections.abc import Hashable

    from poor_bench.dashboard.services.issue_reports import IssueReports
    from poor_bench.dashboard.services.stored_results import StoredResults
    from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch

_KEPT = 32


class TrialSearch:
    """Finds trials among all stored results, also those of removed tests.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(self, files: WorkspaceWatch, results: StoredResults, issues: IssueReports) -> None:
        self._files = files
        self._results = results
        self._issues = issues
        self._lock = threading.Lock()
        self._found: LRUCache[Hashable, Found] = LRUCache(_KEPT)

    def find(self, query: ResultQuery) -> Found:
        """Find the results that match a query; kept, as a table asks for them page by page."""
        table, workspace = self._results.stored(), self._files.workspace()
        key = (table.version, id(workspace), query)
        with self._lock:
            found = self._found.get(key)
        if found is None:
            with_issue = self._issues.trials(query.llm_id, query.issue) if query.issue else None
            found = Found(table, find_rows(table, workspace.tests_by_id, query, with_issue))
            with self._lock:
                self._found[key] = found
        return found

    def details(self, llm_id: str, trial: TrialKey) -> ResultDetails | None:
        """Read everything about one trial; None if no such result is stored."""
        table = self._results.stored()
        row = table.find(llm_id, trial)
        if row is None:
            return None
        titles = {detector.id: detector.title for detector in self._files.config().detectors}
        issues = self._issues.of_llm(llm_id)
        return details_of(table.whole(row), self._files.workspace(), issues, titles)

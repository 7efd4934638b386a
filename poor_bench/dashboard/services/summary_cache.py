"""Figures of LLMs, computed again only for an LLM whose results changed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from poor_bench.statistics.summary import GroupBy, Summariser, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test


class SummaryCache:
    """Keeps the rows of every LLM for the newest state that was asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tests: Mapping[str, Test] | None = None
        self._summarisers: dict[str, tuple[int, Summariser]] = {}
        self._rows: dict[tuple[str, GroupBy], list[Summary]] = {}

    def summaries(
        self,
        table: ResultTable,
        tests: Mapping[str, Test],
        by: GroupBy,
        llm_ids: Iterable[str] | None = None,
    ) -> list[Summary]:
        """Return the rows of some LLMs, or of all that have results.

        Args:
            table: All results.
            tests: Test id to test of the workspace.
            by: What a row stands for.
            llm_ids: Which LLMs; those without results are left out.
        """
        wanted = table.llm_ids if llm_ids is None else llm_ids
        with self._lock:
            if tests is not self._tests:
                self._tests = tests
                self._summarisers.clear()
                self._rows.clear()
            return [
                summary
                for llm_id in wanted
                if llm_id in table.llm_versions
                for summary in self._of_llm(table, tests, llm_id, by)
            ]

    def _of_llm(
        self, table: ResultTable, tests: Mapping[str, Test], llm_id: str, by: GroupBy
    ) -> list[Summary]:
        version = table.llm_versions[llm_id]
        kept_version, summariser = self._summarisers.get(llm_id, (None, Summariser()))
        if kept_version != version:
            summariser = Summariser(tests)
            for result in table.light(table.rows_of(llm_id)):
                summariser.add(result)
            self._summarisers[llm_id] = (version, summariser)
            for other in GroupBy:
                self._rows.pop((llm_id, other), None)
        rows = self._rows.get((llm_id, by))
        if rows is None:
            rows = self._rows[llm_id, by] = summariser.rows(by)
        return rows

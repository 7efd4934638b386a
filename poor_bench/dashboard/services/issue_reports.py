"""Issues of a workspace, computed in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.background import Answer, Background
from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import Detector, Issue, background_of
from poor_bench.issues.format_tax import FormatTax, format_tax
from poor_bench.models.result import Result, record_to_result

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.dashboard.services.services import Services

NEED_ALL_LLMS = frozenset({"suspicious_test"})
"""Detectors that find nothing in the results of one LLM alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueReport:
    """All findings of the detectors."""

    n_results: int
    """Number of checked trials."""
    issues: tuple[Issue, ...]
    """In the order of the detectors."""
    detectors: Sequence[Detector]
    tax: tuple[FormatTax, ...]
    """One row per LLM and class, the highest tax first."""
    class_of: Mapping[str, str]
    """Test id to class id; tests that are not known any more are missing."""


class IssueReports:
    """Keeps the report of the newest state of the files; shared by all browsers."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._background: Background[IssueReport] = Background()

    def finished(self) -> IssueReport:
        """Return the report, and wait for it: some seconds with very many results.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        while True:
            answer = self.report()
            if answer.value is not None and answer.is_current:
                return answer.value

    def report(self) -> Answer[IssueReport]:
        """Return what is known by now.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        table, workspace = self._services.table(), self._services.workspace()
        detectors = self._services.detectors()
        version = (table.version, id(workspace))
        return self._background.ask(
            "issues", version, lambda: _report_of(table, workspace, detectors)
        )


def _report_of(
    table: ResultTable, workspace: Workspace, detectors: Sequence[Detector]
) -> IssueReport:
    from poor_bench.statistics.items import analyse_items

    results = [_result_of(record) for record in table.records(range(len(table)))]
    known = background_of(workspace.tests_by_id, workspace.test_classes, workspace.llms_by_id)
    items = analyse_items(results, workspace.tests_by_id)
    suspicious = {item.test_id: item.suspicion for item in items if item.is_suspicious}
    background = replace(known, suspicious_tests=suspicious)
    return IssueReport(
        n_results=len(results),
        issues=tuple(detect_issues(results, background, detectors=detectors)),
        detectors=detectors,
        tax=tuple(format_tax(results, background.facts)),
        class_of={test_id: test.class_id for test_id, test in workspace.tests_by_id.items()},
    )


def _result_of(record: Mapping[str, object]) -> Result:
    return record_to_result(str(record["llm_id"]), record)

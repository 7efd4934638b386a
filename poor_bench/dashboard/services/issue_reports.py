"""Issues of a workspace, computed in the background."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.computations import (
    Computations,
    Computed,
    Kept,
    Requests,
    wait_for_value,
)
from poor_bench.dashboard.services.rated_answers import RatedAnswers
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.test_reports import ItemReport
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.issues.across_trials import PEOPLE
from poor_bench.issues.detect import (
    detect_issues,
    find_again,
    find_issues,
    group_issues,
)
from poor_bench.issues.detector import (
    Detector,
    Issue,
    IssueContext,
    IssueGroup,
    TrialTable,
    sort_by_severity,
)
from poor_bench.issues.form import FormatTax, compute_format_taxes
from poor_bench.issues.found_issues import FoundIssues
from poor_bench.models.test import Test
from poor_bench.results.stored_texts import StoredTexts
from poor_bench.results.table import ResultTable

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder

_KEPT_LLMS = 16
"""Models whose issues stay in memory."""
NEED_ALL_LLMS = frozenset({"suspicious_test"})
"""Detectors that find nothing in the results of one LLM alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueReport:
    """All findings of the detectors."""

    n_results: int
    """Number of checked trials."""
    issues: FoundIssues
    """In the order of the detectors; those that people's ratings show come last."""
    detectors: Sequence[Detector]
    tax: tuple[FormatTax, ...]
    """One row per LLM and class, the highest tax first."""
    tests: Mapping[str, Test]
    """By id; tests that are not known any more are missing."""
    version: Hashable
    """Changes with the findings."""
    is_sample: bool = False
    """True if only some results have been checked by now."""


class IssueReports:
    """Issues of one LLM at once, those of all LLMs in the background; shared by all browsers.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(
        self,
        files: WorkspaceWatch,
        results: StoredResults,
        ratings: RatedAnswers,
        items: Callable[[], Computed[ItemReport]],
        is_running: Callable[[], bool],
        requests: Requests,
    ) -> None:
        """Look for nothing yet.

        Args:
            files: The workspace.
            results: Its results.
            ratings: What people say about them: their issues are found anew with every rating, the
                others are not.
            items: Gives the analysis of tests by results, as far as it is known by now.
            is_running: True while a run goes on: then the report would be outdated at once.
            requests: What the report of all LLMs gives way to.
        """
        self._files = files
        self._results = results
        self._ratings = ratings
        self._items = items
        self._is_running = is_running
        self._requests = requests
        self.progress = 0, 0
        """How many results have been read for the report of all LLMs, and of how many."""
        self._report: Computations[IssueReport] = Computations(requests=requests)
        self._early: IssueReport | None = None
        """What is known while the first report is computed."""
        self._is_first = True
        """True until a report stands: later ones are waited for with the one before them."""
        self._disputed: Kept[tuple[Issue, ...]] = Kept(_KEPT_LLMS)
        self._causes: Kept[list[IssueGroup]] = Kept()
        self._by_llm: Kept[FoundIssues] = Kept(_KEPT_LLMS)

    def of_llm(self, llm_id: str, items: ItemReport | None = None) -> FoundIssues:
        """Find the issues that the results of an LLM show, with what is known about the tests."""
        table, folder = self._results.table(), self._files.config()
        version = table.llm_versions.get(llm_id)
        if version is None:
            return detect_issues(())

        def find() -> FoundIssues:
            is_meant = table.find_entries("llm_id", lambda each: each == llm_id)
            looked = self._open_texts(table.select(is_meant), folder).look()
            return find_issues(looked, _read_context(folder, items), folder.detectors)

        key = folder.workspace.version, llm_id, version, items and items.version
        return self._add_disputed(self._by_llm.get(key, find), table, folder, (llm_id,))

    def _open_texts(self, table: ResultTable, folder: WorkspaceFolder) -> StoredTexts:
        return StoredTexts(
            paths=folder.store.paths,
            table=table,
            read_facts=lambda: folder.issue_context.facts,
            detectors=folder.detectors,
        )

    def _add_disputed(
        self,
        known: FoundIssues,
        table: ResultTable,
        folder: WorkspaceFolder,
        llm_ids: tuple[str, ...],
    ) -> FoundIssues:
        disputed = self._find_disputed(table, folder, llm_ids)
        return known.append(disputed) if disputed else known

    def _find_disputed(
        self, table: ResultTable, folder: WorkspaceFolder, llm_ids: tuple[str, ...]
    ) -> tuple[Issue, ...]:
        """Find where people disagree: apart from the rest, since each rating changes it."""
        detectors = [each for each in folder.detectors if each in PEOPLE]
        if not detectors:
            return ()
        key = (llm_ids, table.version, self._ratings.version())
        return self._disputed.get(
            key, lambda: tuple(self._ratings.issues(table, llm_ids, detectors))
        )

    def all_of_llm(self, llm_id: str) -> Computed[FoundIssues]:
        """Find also the issues of an LLM that only the results of all LLMs show.

        They take time: until they are known, and while a run goes on, `of_llm` stands in.
        """
        if self._is_running():
            return Computed(value=self.of_llm(llm_id), is_current=True)
        items = self._items()
        if items.value is None or not items.is_current:
            return Computed(value=self.of_llm(llm_id), is_current=False)
        return Computed(value=self.of_llm(llm_id, items.value), is_current=True)

    def trials(self, llm_id: str, detector_id: str) -> frozenset[tuple[str, int]]:
        """Find the trials of an LLM with an issue: test id and number of trial."""
        items = wait_for_value(self._items) if detector_id in NEED_ALL_LLMS else None
        issues = self.of_llm(llm_id, items)
        return frozenset(issues.where(detector_id, {llm_id}).trials())

    def report(self) -> Computed[IssueReport]:
        """Report the issues of all LLMs, as far as they are known by now."""
        answer = self._report_unrated()
        table, folder = self._results.table(), self._files.config()
        if answer.value is None:
            return Computed(value=self._early, is_current=False)
        issues = self._add_disputed(answer.value.issues, table, folder, tuple(table.llm_ids))
        version = (answer.value.version, table.version, self._ratings.version())
        report = replace(answer.value, issues=issues, version=version)
        return Computed(value=report, is_current=answer.is_current)

    def group(
        self, report: IssueReport, choice: Hashable, choose: Callable[[], FoundIssues]
    ) -> list[IssueGroup]:
        """Group the chosen issues of a report by cause, the most severe first.

        Args:
            report: The report.
            choice: Names what is chosen.
            choose: Selects it.
        """

        def group() -> list[IssueGroup]:
            return sort_by_severity(group_issues(choose(), detectors=report.detectors))

        return self._causes.get((report.version, choice), group)

    def _report_unrated(self) -> Computed[IssueReport]:
        """Report the same without what people's ratings show."""
        table, folder = self._results.table(), self._files.config()
        workspace = folder.workspace
        version = (table.version, workspace.version)
        context = _read_context(folder)

        def build() -> IssueReport:
            texts = self._open_texts(table, folder)
            self._show_sample(texts, folder, context)
            texts.follow(partial(self._follow, len(table)))
            with self._requests.turn:
                early = _build_report(texts.look(), folder, context, (version, "early"))
            if self._is_first:
                self._show_early(early)
            known = _read_context(folder, wait_for_value(self._items))
            issues = find_again(early.issues, known, folder.detectors, NEED_ALL_LLMS)
            report = replace(early, issues=issues, version=version)
            self._early, self._is_first = None, False
            return report

        return self._report.ask("issues", version, build)

    def _show_sample(
        self, texts: StoredTexts, folder: WorkspaceFolder, context: IssueContext
    ) -> None:
        """Show what few of many results tell, until all are read for the first time."""
        sample = texts.sample() if self._is_first else None
        if sample is not None:
            report = _build_report(sample, folder, context, (texts.table.version, "sample"))
            self._show_early(replace(report, is_sample=True))

    def _show_early(self, report: IssueReport) -> None:
        self._early = report
        self._report.tell()

    def _follow(self, n_results: int, n_read: int) -> None:
        self.progress = n_read, n_results
        self._requests.give_way()

    def wait(self) -> IssueReport:
        """Wait for the report: some seconds with very many results."""
        wait_for_value(self._report_unrated)
        return wait_for_value(self.report)


def _read_context(folder: WorkspaceFolder, items: ItemReport | None = None) -> IssueContext:
    """Read what is known beyond the results, without what people's ratings show."""
    every = items.items.values() if items else ()
    suspicious = {item.test_id: item.suspicion for item in every if item.is_suspicious}
    return replace(folder.issue_context, people={}, suspicious_tests=suspicious)


def _build_report(
    looked: TrialTable, folder: WorkspaceFolder, context: IssueContext, version: Hashable
) -> IssueReport:
    return IssueReport(
        n_results=len(looked.trials),
        issues=find_issues(looked, context, folder.detectors),
        detectors=folder.detectors,
        tax=tuple(compute_format_taxes(looked)),
        tests=folder.workspace.tests_by_id,
        version=version,
    )

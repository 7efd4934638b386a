"""Everything that pages may ask, in one place; it knows nothing of Dash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from poor_bench.config.llm_names import find_llm, unknown_llm
from poor_bench.config.workspace import Workspace
from poor_bench.dashboard.services.background import Answer
from poor_bench.dashboard.services.class_means import ClassMeans
from poor_bench.dashboard.services.counted_results import CountedResults, coverages_in
from poor_bench.dashboard.services.failures import FailureGroup, failure_groups
from poor_bench.dashboard.services.found import Found
from poor_bench.dashboard.services.found_cache import FoundCache
from poor_bench.dashboard.services.issue_cache import IssueCache
from poor_bench.dashboard.services.issue_reports import NEED_ALL_LLMS, IssueReports
from poor_bench.dashboard.services.judge_service import JudgeService
from poor_bench.dashboard.services.judged_runs import JudgedRuns
from poor_bench.dashboard.services.last_run import LastRun, LastRunCache
from poor_bench.dashboard.services.latency import LatencySplit, latency_split
from poor_bench.dashboard.services.repeated_trials import reliability_of
from poor_bench.dashboard.services.result_cache import ResultCache
from poor_bench.dashboard.services.result_details import ResultDetails, details_of
from poor_bench.dashboard.services.result_query import ResultQuery, find_rows
from poor_bench.dashboard.services.result_table import ResultTable, TrialKey
from poor_bench.dashboard.services.run_preview import RunPreview, preview_run
from poor_bench.dashboard.services.run_service import RunService
from poor_bench.dashboard.services.suite_runs import SuiteRuns
from poor_bench.dashboard.services.summary_cache import SummaryCache
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import PoorBenchError
from poor_bench.issues.detector import Detector, Issue
from poor_bench.models.llm import LLM
from poor_bench.runner.plan import make_plan
from poor_bench.runner.selection import Selection
from poor_bench.sandbox import SandboxTerms
from poor_bench.statistics.repeats import Reliability
from poor_bench.statistics.scores import Coverage
from poor_bench.statistics.summary import GroupBy, Summary
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner


class Services:
    """Answers about one workspace; shared by all pages and all browsers.

    Attributes:
        runs: Starts, steers and shows runs.
        issue_reports: What goes wrong in the results of all LLMs together.
        suites: Runs of suites of cases for agents.
        judged: Agents before their judges, and what people think of them.
        judge_runs: Starts, stops and shows runs of agents before their judges.
    """

    def __init__(self, open_config: Callable[[], WorkspaceFolder]) -> None:
        self._watch = WorkspaceWatch(open_config)
        self._results = ResultCache(self._watch.store)
        self._counted = CountedResults()
        self._summaries = SummaryCache()
        self._issues = IssueCache()
        self._last_run = LastRunCache()
        starting = threading.Lock()
        self.runs = RunService(
            lambda: WorkspaceRunner(open_config()),
            self._watch.store,
            busy=self._judging,
            starting=starting,
        )
        self._found = FoundCache()
        self.issue_reports = IssueReports(self)
        self.suites = SuiteRuns(lambda: self._watch.config().data_dir)
        self.judged = JudgedRuns(lambda: self._watch.config().data_dir)
        self.judge_runs = JudgeService(
            lambda: self._watch.config().data_dir, self._asking, starting=starting
        )

    def _judging(self) -> str:
        """Return that an agent is judged just now; empty while none is."""
        if self.judge_runs.state().is_active:
            return "a judged run is in progress"
        run_id = self.judged.under_way()
        return f"the judged run {run_id} of another process is in progress" if run_id else ""

    def _asking(self) -> str:
        """Return that another run asks LLMs just now, here or in another process."""
        state = self.runs.state()
        return f"the run {state.run_id} is in progress" if state.is_active else self._judging()

    def workspace(self) -> Workspace:
        """Return the workspace as it stands in its files.

        Raises:
            ConfigError: With every problem of every file.
        """
        return self._watch.workspace()

    def detectors(self) -> Sequence[Detector]:
        """Return what looks for issues: built-in detectors and those of the workspace."""
        return self.config().detectors

    def config(self) -> WorkspaceFolder:
        """Return the manager of the workspace's files."""
        return self._watch.config()

    def table(self) -> ResultTable:
        """Return the results as they are stored now, without those of removed tests.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return self._counted.table(self._results.table(), self.workspace().tests_by_id)

    def stored(self) -> ResultTable:
        """Return all stored results: also those of removed tests, which count in no figure.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return self._results.table()

    def n_removed(self) -> int:
        """Count the results of removed tests; they are listed, but count in no figure.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return len(self._results.table()) - len(self.table())

    def coverages(self) -> dict[str, Coverage]:
        """Return on how many of all scored tests each LLM was scored.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return coverages_in(self.table())

    def write_some(self) -> bool:
        """Move some texts of results from memory to disk; return whether there were any."""
        return self._results.write_some()

    def summaries(self, by: GroupBy, llm_ids: Sequence[str] | None = None) -> list[Summary]:
        """Return the figures of some LLMs, or of all that have results.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return self._summaries.summaries(self.table(), self.workspace().tests_by_id, by, llm_ids)

    def latency(self, llm_id: str) -> LatencySplit | None:
        """Return where the time of an LLM goes; None where no result tells.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return latency_split(self.table(), llm_id)

    def reliability(self, llm_id: str) -> Reliability | None:
        """Return how reliable an LLM is over repeated trials; None where nothing was repeated.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return reliability_of(self.table(), llm_id)

    def find(self, query: ResultQuery) -> Found:
        """Return the results that a query finds.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        table, tests = self.stored(), self.workspace().tests_by_id
        return self._found.found(
            table,
            tests,
            query,
            lambda: Found(table, find_rows(table, tests, query, self._trials_with_issue(query))),
        )

    def issues(self, llm_id: str) -> tuple[Issue, ...]:
        """Return what is wrong with the results of an LLM.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return self._issues.issues(self.table(), self.config(), llm_id)

    def all_issues(self, llm_id: str) -> Answer[tuple[Issue, ...]]:
        """Return also those issues of an LLM that only the results of all LLMs show.

        They take time: until they are known, and while a run goes on, `issues` stands in.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        if self.runs.state().is_active:
            return Answer(value=self.issues(llm_id), is_current=True)
        report = self.issue_reports.report()
        if report.value is None or not report.is_current:
            return Answer(value=self.issues(llm_id), is_current=False)
        found = tuple(issue for issue in report.value.issues if issue.llm_id == llm_id)
        return Answer(value=found, is_current=True)

    def details(self, llm_id: str, trial: TrialKey) -> ResultDetails | None:
        """Return everything about one trial; None where there is no such result.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        table = self.stored()
        row = table.find(llm_id, trial)
        if row is None:
            return None
        titles = {detector.id: detector.title for detector in self.detectors()}
        return details_of(table.whole(row), self.workspace(), self.issues(llm_id), titles)

    def last_run(self) -> LastRun | None:
        """Return what the last run changed; None without an earlier run to compare with.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the runs cannot be read.
        """
        self.workspace()
        return self._last_run.last_run(self.config())

    def failures(self) -> list[FailureGroup]:
        """Return what failed to run, by LLM and reason.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        return failure_groups(self.table())

    def preview(self, selection: Selection) -> RunPreview:
        """Return what a run would do, how long it would take and what it would cost.

        Raises:
            ConfigError: If the workspace is not valid or a filter matches nothing.
            StoreError: If the results cannot be read.
        """
        self.workspace()
        runner = WorkspaceRunner(self.config())
        try:
            states = runner.states(selection)
            plan = make_plan(states, force=selection.force, only=selection.only)
            means = ClassMeans(self.table(), runner.workspace.tests_by_id)
            return preview_run(plan, runner.manager, means, runner.costs_of)
        finally:
            runner.close()

    def sandbox_terms(self) -> SandboxTerms | None:
        """Return how well code of models is locked in; None where no test runs such code.

        Raises:
            ConfigError: If the workspace is not valid.
            SandboxError: If processes cannot be started.
        """
        runner = WorkspaceRunner(self.config())
        try:
            return runner.sandbox_terms(runner.workspace.tests)
        finally:
            runner.close()

    def llm(self, llm_id: str) -> LLM | None:
        """Return a configured LLM; None where the results are all that is left of it."""
        return self.workspace().llms_by_id.get(llm_id)

    def llm_id_named(self, name: str) -> str:
        """Find the id of the LLM that a name means, also of one that only has results.

        Args:
            name: See `poor_bench.config.llm_names`.

        Raises:
            ConfigError: If the workspace is not valid, or the name means no LLM, or several.
            StoreError: If the results cannot be read.
        """
        llms = self.workspace().llms
        llm = find_llm(name, llms)
        if llm is not None:
            return llm.id
        stored = self.table().llm_ids
        if name in stored:
            return name
        raise unknown_llm(name, llms, stored)

    def name(self, llm_id: str) -> str:
        """Return what screens call an LLM."""
        llm = self._watch.known_workspace().llms_by_id.get(llm_id)
        return llm.label or llm.id if llm is not None else llm_id

    def problem(self) -> PoorBenchError | None:
        """Return what keeps workspace or results from being read; None where both can be."""
        try:
            self.workspace()
            self.table()
        except PoorBenchError as error:
            return error
        return None

    def version(self) -> str:
        """Return a text that changes whenever a page has something new to show; cheap to ask."""
        try:
            files = f"{hash(self._watch.fingerprint()) & 0xFFFFFFFF:x}"
            others = f"{self.suites.version()}.{self.judged.version()}"
            return f"{self.table().version}.{files}.{others}"
        except PoorBenchError as error:
            return f"error {error}"

    def refresh(self) -> None:
        """Read everything anew when it is next asked for."""
        self._watch.forget()
        self._results.forget()

    def _trials_with_issue(self, query: ResultQuery) -> frozenset[tuple[str, int]] | None:
        if not query.issue:
            return None
        needs_all = query.issue in NEED_ALL_LLMS
        issues = self.issue_reports.finished().issues if needs_all else self.issues(query.llm_id)
        return frozenset(
            (issue.test_id, issue.trial)
            for issue in issues
            if (issue.llm_id, issue.detector_id) == (query.llm_id, query.issue)
        )

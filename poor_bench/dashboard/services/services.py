"""What pages may ask about one workspace; nothing here knows Dash."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.load import TESTS_FILE, find_llms_file, load_llms
from poor_bench.dashboard.services.compare_service import CompareService
from poor_bench.dashboard.services.computations import Requests
from poor_bench.dashboard.services.console_runs import SUITE_ENDS, ConsoleRun
from poor_bench.dashboard.services.issue_reports import IssueReports
from poor_bench.dashboard.services.judged_runs import JudgedRuns
from poor_bench.dashboard.services.llm_service import LLMService
from poor_bench.dashboard.services.panel_results import PanelResults
from poor_bench.dashboard.services.past_runs import LastRunCache, ScoreTrends
from poor_bench.dashboard.services.rated_answers import RatedAnswers
from poor_bench.dashboard.services.run_plans import RunPlans
from poor_bench.dashboard.services.run_service import RunService
from poor_bench.dashboard.services.running import RunningRuns, name_other_run
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.suite_runs import SuiteRuns
from poor_bench.dashboard.services.test_edits import TestEdits
from poor_bench.dashboard.services.test_reports import TestReports
from poor_bench.dashboard.services.trial_search import TrialSearch
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.stored_run import SUITE_RUNS
from poor_bench.judge.storage import JUDGED_RUNS, PAIRWISE_RUNS
from poor_bench.models.llm import LLM
from poor_bench.tuning.searches import SEARCHES
from poor_bench.workspace_runner import WorkspaceRunner

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder


class Services:
    """One object for each subject; shared by all pages and all browsers.

    Attributes:
        files: The workspace as it stands in its files.
        results: Stored results and their figures.
        ratings: What people say about answers.
        trials: Trials that filters find, and everything about one of them.
        issues: What goes wrong in the results.
        panel: Everything that the result panel shows, and what can be done with a result.
        compare: Chosen models side by side.
        tests: Problems of tests, and what the results tell about them.
        edits: Edits of many tests, with undo.
        llms: Names of models, whether they can be reached, one prompt.
        runs: Starts, steers and shows runs.
        plans: What a run would do, before it starts.
        requests: What is answered now; what takes long in the background gives way to it.
        last_run: What the last run changed.
        trends: Scores of each model over its runs.
        suites: Runs of suites of cases for agents.
        judged: Agents before their judges, and what people think of them.
        commands: Starts, stops and shows the runs of every kind but tests; by the name of the kind.
    """

    def __init__(self, open_config: Callable[[], WorkspaceFolder]) -> None:
        self.files = WorkspaceWatch(open_config)
        self.results = StoredResults(self.files)
        starting = threading.Lock()
        self.runs = RunService(
            lambda: WorkspaceRunner(open_config()),
            self.files.store,
            busy=self._judging,
            starting=starting,
        )
        self.requests = Requests()
        self.tests = TestReports(self.files, self.results, self.requests)
        self.edits = TestEdits(self.files)
        self.ratings = RatedAnswers(self.files, self.results)
        self.issues = IssueReports(
            self.files,
            self.results,
            self.ratings,
            self.tests.items,
            lambda: self.runs.state().is_active,
            self.requests,
        )
        self.trials = TrialSearch(self.files, self.results, self.issues, self.ratings)
        self.panel = PanelResults(self.files, self.results, self.trials, open_config)
        self.compare = CompareService(self.files, self.results, self.requests)
        self.llms = LLMService(
            self.files, self.results, lambda: self.runs.state().is_active, self.requests
        )
        self.plans = RunPlans(self.files, self.results)
        self.last_run = LastRunCache(self.files)
        self.trends = ScoreTrends(self.files)
        self.suites = SuiteRuns(self.data_dir)
        self.judged = JudgedRuns(self.data_dir, self.results.table)
        self.running = RunningRuns(self.data_dir)
        self.commands = {
            PAIRWISE_RUNS.name: ConsoleRun(self.data_dir),
            SEARCHES.name: ConsoleRun(self.data_dir),
            SUITE_RUNS.name: ConsoleRun(self.data_dir, ends=SUITE_ENDS),
            JUDGED_RUNS.name: ConsoleRun(self.data_dir, self._asking, starting),
        }

    def data_dir(self) -> Path:
        """Folder of the workspace."""
        return self.files.config().data_dir

    def list_llms(self) -> list[LLM]:
        """List the models of llms.json; none where it is missing or broken."""
        if not find_llms_file(self.data_dir()).is_file():
            return []
        try:
            return list(load_llms(self.data_dir()).items)
        except ConfigError:
            return []

    def problem(self) -> PoorBenchError | None:
        """Find what keeps workspace or results from being read; None if both can be."""
        try:
            self.results.table()
        except PoorBenchError as error:
            return error
        return None

    def has_tests_file(self) -> bool:
        """True if the workspace has a tests.json, whatever is in it."""
        return (self.data_dir() / TESTS_FILE).exists()

    def version(self) -> str:
        """Build a text that changes whenever a page has something new to show; cheap to ask."""
        others = ""
        try:
            others = f"{self.suites.version()}.{self.judged.version()}.{self.running.version()}"
            files = f"{hash(self.files.fingerprint()) & 0xFFFFFFFF:x}"
            version = self.results.table().version
            return f"{version}.{self.results.stale().is_current:d}.{files}.{others}"
        except PoorBenchError as error:
            return f"error {others} {error}"

    def refresh(self) -> None:
        """Read everything again when it is next asked for."""
        self.files.forget()
        self.results.forget()

    def _judging(self) -> str:
        """Name the judged run in progress; empty without one."""
        if self.commands[JUDGED_RUNS.name].state().is_active:
            return name_other_run()
        run_id = self.judged.under_way()
        return name_other_run(run_id) if run_id else ""

    def _asking(self) -> str:
        """Name the run in progress that asks models, here or in another process."""
        state = self.runs.state()
        return name_other_run(state.run_id) if state.is_active else self._judging()

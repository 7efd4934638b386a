"""A workspace for the pytest plug-in: tests, results, and runs of pending trials."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from poor_bench.cli.context import AppContext
from poor_bench.cli.run_view import open_run_view
from poor_bench.cli.sandbox import agree_on_sandbox
from poor_bench.command_line import next_command, use_workspace
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.runner.selection import Selection, select
from poor_bench.runner.trial_states import TrialState
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

_PROBLEMS = {
    TrialState.PENDING: "no result yet",
    TrialState.FAILED: "failed to run",
    TrialState.STALE_REQUEST: "the result is out of date: prompt or parameters changed",
    TrialState.STALE_SCORE: "the score is out of date: the evaluator changed",
}
_XDIST_SESSION = "PYTEST_XDIST_TESTRUNUID"
"""Environment variable that all workers of one session of pytest-xdist share."""


class Bench:
    """One workspace and its results."""

    def __init__(self, folder: Path, llms: Sequence[str], trials: int) -> None:
        """Open a workspace.

        Args:
            folder: The workspace.
            llms: Ids, labels or globs; empty for all LLMs that are enabled.
            trials: How many trials of every test count, at least 1.

        Raises:
            ConfigError: If it is not valid, or a filter matches nothing.
            StoreError: If the stored results cannot be read.
        """
        use_workspace(folder)
        self._folder = folder
        self._trials = trials
        self._runner = WorkspaceRunner(WorkspaceFolder(folder))
        self._selection = Selection(llms=tuple(llms), trials=trials)
        chosen = select(self._runner.workspace, self._selection)
        self.llms, self.tests = chosen.llms, chosen.tests
        self._llm_places = {llm.id: place for place, llm in enumerate(self.llms)}
        self._test_places = {test.test_id: place for place, test in enumerate(self.tests)}
        self._read()

    def list_results(self, llm: LLM, test: Test) -> Sequence[Result]:
        """List the results of a test, failures included."""
        return self._results.get((llm.id, test.test_id), ())

    def find_problem(self, llm: LLM, test: Test) -> str:
        """Explain why a test has no score; empty if it has one."""
        places = self._llm_places[llm.id], self._test_places[test.test_id]
        for trial in range(1, self._trials + 1):
            state = self._states.state(*places, trial)
            if state is TrialState.FAILED:
                return f"{_PROBLEMS[state]}: {_find_reason(self.list_results(llm, test), trial)}"
            if state is not TrialState.DONE:
                return f"{_PROBLEMS[state]}; add --poor-bench-run, or run: {next_command('run')}"
        return ""

    def compute_score(self, llm: LLM, test: Test) -> float:
        """Compute the mean score over trials of a test without a problem."""
        results = self.list_results(llm, test)
        scores = [result.score for result in results if result.score is not None]
        return sum(scores) / len(scores)

    def run_pending(self, chosen: Iterable[tuple[LLM, Test]]) -> None:
        """Ask what is pending of some LLMs and tests.

        The workers of pytest-xdist all call this; the first one asks for all of them.

        Raises:
            StoreError: If a result could not be stored.
        """
        journals = self._runner.config.store.paths.journal_dir
        journals.mkdir(parents=True, exist_ok=True)
        session, asked = os.environ.get(_XDIST_SESSION), journals / "pytest-session"
        with FileLock(journals / "pytest.lock"):
            if not session or not asked.is_file() or asked.read_text() != session:
                for selection in _group_selections(chosen, self._trials):
                    self._run(selection)
            if session:
                asked.write_text(session)
        self._read()

    def _run(self, selection: Selection) -> None:
        plan = self._runner.plan(selection)
        if not plan.is_empty:
            agree_on_sandbox(AppContext(self._folder), plan.states.tests)
            with open_run_view(self._runner.workspace, quiet=False) as view:
                self._runner.run(plan, view)

    def _read(self) -> None:
        self._states = self._runner.states(self._selection)
        self._results: dict[tuple[str, str], list[Result]] = {}
        for result in self._runner.config.store.results():
            if result.trial <= self._trials:
                self._results.setdefault((result.llm_id, result.test_id), []).append(result)


def _group_selections(chosen: Iterable[tuple[LLM, Test]], trials: int) -> Iterator[Selection]:
    """Yield what to run, LLMs with the same tests together."""
    tests_of: dict[str, list[str]] = {}
    for llm, test in chosen:
        tests_of.setdefault(llm.id, []).append(test.test_id)
    llms_of: dict[tuple[str, ...], list[str]] = {}
    for llm_id, test_ids in tests_of.items():
        llms_of.setdefault(tuple(test_ids), []).append(llm_id)
    for tests, llm_ids in llms_of.items():
        yield Selection(llms=tuple(llm_ids), tests=tests, trials=trials)


def _find_reason(results: Iterable[Result], trial: int) -> str:
    failures = [result.failure for result in results if result.trial == trial and result.failure]
    return (
        f"{failures[-1].kind.value}: {failures[-1].message}" if failures else "no reason is stored"
    )

"""Runs of suites as they stand on the disk, and how the page starts and stops one."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.load import llms_file, load_llms
from poor_bench.dashboard.services.console_runs import ConsoleRun, ConsoleState, write_options
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.runner import SuiteOptions, plan_trials
from poor_bench.evaluation.stored_run import (
    SUITE_RUNS,
    Image,
    SuiteRun,
    locate_artifacts,
    open_run,
    read_screenshot,
)
from poor_bench.evaluation.suite_file import list_suites, read_suite, select_cases
from poor_bench.runs.history import RunHistory

if TYPE_CHECKING:
    from collections.abc import Callable

    from poor_bench.evaluation.agent import Step
    from poor_bench.evaluation.models import EvalCase, EvalSuiteResult, EvalTrialResult
    from poor_bench.evaluation.trial_run import SuiteTrialPlan

Fingerprint = tuple[int, int]


class SuiteRuns:
    """Answers about the runs of suites in one workspace; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._reports: dict[str, tuple[Fingerprint, EvalSuiteResult]] = {}

    def version(self) -> str:
        """Build a text that changes whenever a run is new or grew; cheap to ask."""
        fingerprints = tuple((path.parent.name, _fingerprint(path)) for path in self._files())
        return f"{hash(fingerprints) & 0xFFFFFFFF:x}"

    def reports(self) -> list[EvalSuiteResult]:
        """Read the reports of all readable runs, oldest first."""
        found = [report for path in self._files() if (report := self._report(path))]
        return sorted(found, key=lambda report: (report.started, report.run_id))

    def is_going_on(self, run_id: str) -> bool:
        """True if a process still writes to a run."""
        run = self._run(run_id)
        return run is not None and run.is_going_on

    def case(self, run_id: str, case_id: str) -> EvalCase | None:
        """Find a case as it was run; None if it does not exist."""
        run = self._run(run_id)
        return next((case for case in run.cases if case.id == case_id), None) if run else None

    def steps(self, run_id: str, trial: EvalTrialResult) -> list[Step]:
        """Read the steps of a trial, as far as they are readable."""
        run = self._run(run_id)
        return run.steps(trial) if run else []

    def screenshot(self, run_id: str, case_id: str, trial: int, name: str) -> Image | None:
        """Read an image of a trial; None if it does not exist."""
        run = self._run(run_id)
        if run is None or all(case.id != case_id for case in run.cases):
            return None
        return read_screenshot(run.folder, locate_artifacts(case_id, trial), name)

    def _files(self) -> list[Path]:
        return RunHistory(self._data_dir(), SUITE_RUNS).files()

    def _run(self, run_id: str) -> SuiteRun | None:
        path = next((path for path in self._files() if path.parent.name == run_id), None)
        return open_run(path.parent) if path else None

    def _report(self, path: Path) -> EvalSuiteResult | None:
        """Read the report of a run; None if it cannot be read."""
        fingerprint = _fingerprint(path)
        with self._lock:
            kept = self._reports.get(path.parent.name)
        if kept is not None and kept[0] == fingerprint:
            return kept[1]
        try:
            report = open_run(path.parent).report()
        except PoorBenchError:
            return None
        with self._lock:
            self._reports[path.parent.name] = (fingerprint, report)
        return report


def _fingerprint(path: Path) -> Fingerprint:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOrder:
    """A suite to run."""

    name: str
    trials: int | None = None
    """None for the number of each case."""
    llm_id: str = ""
    """Empty for the model that the suite names."""
    max_cost_usd: float | None = None


class SuiteStarts:
    """Starts and stops runs of suites."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        self._data_dir = data_dir
        self.run = ConsoleRun(data_dir)

    def list_names(self) -> list[str]:
        """List the suites that can be run."""
        return list(dict.fromkeys(path.stem for path in list_suites(self._data_dir())))

    def list_llms(self) -> list[str]:
        """List the models that can be chosen; none where llms.json is missing or broken."""
        if not llms_file(self._data_dir()).is_file():
            return []
        try:
            return [llm.id for llm in load_llms(self._data_dir()).items]
        except ConfigError:
            return []

    def plan(self, order: SuiteOrder) -> list[SuiteTrialPlan]:
        """List the trials of a run, without starting anything.

        Raises:
            ConfigError: If the suite does not exist or has an error, or the model does not exist.
        """
        folder = self._data_dir()
        suite = select_cases(read_suite(self._find(order.name), folder), trials=order.trials)
        return plan_trials(suite, SuiteOptions(data_dir=folder, llm_id=order.llm_id or None))

    def start(self, order: SuiteOrder) -> ConsoleState:
        """Start a run.

        Raises:
            ConfigError: As `plan`.
            RunRefusedError: If our last run has not ended.
        """
        self.plan(order)
        options = write_options(trials=order.trials, max_cost=order.max_cost_usd, llm=order.llm_id)
        return self.run.start(order.name, ["suite", "run", *options, str(self._find(order.name))])

    def _find(self, name: str) -> Path:
        """Find a suite by its name; paths are not accepted from a browser."""
        found = [path for path in list_suites(self._data_dir()) if path.stem == name]
        if not found:
            raise ConfigError(f"suite `{name}` does not exist")
        return found[0]

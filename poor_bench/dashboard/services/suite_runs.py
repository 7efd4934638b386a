"""Runs of suites as they stand on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from poor_bench.dashboard.services.computations import Kept
from poor_bench.errors import PoorBenchError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalCase, EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.stored_run import (
    SUITE_RUNS,
    Image,
    SuiteRun,
    locate_artifacts,
    open_run,
    read_screenshot,
)
from poor_bench.runs.history import RunHistory

Fingerprint = tuple[int, int]
_KEPT = 2000
"""Reports of runs that stay in memory."""


class SuiteRuns:
    """Answers about the runs of suites in one workspace; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        self._data_dir = data_dir
        self._reports: Kept[EvalSuiteResult] = Kept(_KEPT)

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
        key = (path, _fingerprint(path))
        try:
            return self._reports.get(key, lambda: open_run(path.parent).report())
        except PoorBenchError:
            return None


def _fingerprint(path: Path) -> Fingerprint:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns

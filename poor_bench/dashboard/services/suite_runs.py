"""Runs of suites as they stand on the disk, and how the page starts and stops one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.load import llms_file, load_llms
from poor_bench.dashboard.services.run_state import ACTIVE_PHASES, RunPhase
from poor_bench.errors import ConfigError, PoorBenchError, RunRefusedError
from poor_bench.evaluation.runner import SuiteOptions, plan_trials
from poor_bench.evaluation.stored_run import (
    RUN_FILE,
    Image,
    SuiteRun,
    locate_artifacts,
    open_run,
    read_screenshot,
    runs_folder,
)
from poor_bench.evaluation.suite_file import list_suites, read_suite, select_cases
from poor_bench.messages import harmless

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
        return sorted(runs_folder(self._data_dir()).glob(f"*/{RUN_FILE}"))

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


_PROJECT = Path(__file__).parents[3]
_SECRETS = ("POOR_BENCH_PASSWORD", "POOR_BENCH_TOKEN")
"""Of the dashboard; suites run other people's code."""
_SHOWN_CHARACTERS = 2000
_PHASES = {
    0: (RunPhase.FINISHED, ""),
    1: (RunPhase.FINISHED, "Some cases failed."),
    3: (RunPhase.FINISHED, "Some trials could not be run. The table says why."),
    130: (RunPhase.CANCELLED, ""),
}
"""By exit code of `suite run`; other codes mean that it could not start or go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOrder:
    """A suite to run."""

    name: str
    trials: int | None = None
    """None for the number of each case."""
    llm_id: str = ""
    """Empty for the model that the suite names."""
    max_cost_usd: float | None = None

    @property
    def options(self) -> list[str]:
        """Options of `suite run`."""
        written = {"--trials": self.trials, "--max-cost": self.max_cost_usd}
        options = [f"{name}={value}" for name, value in written.items() if value is not None]
        return [*options, *([f"--llm={self.llm_id}"] if self.llm_id else []), "--json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRunState:
    """State of our active or last run."""

    phase: RunPhase = RunPhase.IDLE
    name: str = ""
    message: str = ""
    """Why it could not go on, or what its end means."""

    @property
    def is_active(self) -> bool:
        """True while the run is active."""
        return self.phase in ACTIVE_PHASES


class SuiteStarts:
    """Starts and stops runs of suites, one at a time; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        """Prepare without starting a run.

        Args:
            data_dir: Returns the folder of the workspace.
        """
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._state = SuiteRunState()
        self._process: subprocess.Popen[bytes] | None = None
        self._follower: threading.Thread | None = None

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

    def start(self, order: SuiteOrder) -> SuiteRunState:
        """Start a run.

        Raises:
            ConfigError: As `plan`.
            RunRefusedError: If our last run has not ended.
        """
        self.plan(order)
        with self._lock:
            if self._state.is_active:
                raise RunRefusedError(
                    f"a run of the suite {self._state.name} is in progress",
                    hint="Wait until it ends, or cancel it.",
                )
            process = self._process = self._open(order)
            self._state = SuiteRunState(phase=RunPhase.RUNNING, name=order.name)
            self._follower = threading.Thread(target=self._follow, args=(process,), daemon=True)
            self._follower.start()
            return self._state

    def cancel(self) -> SuiteRunState:
        """Stop as Ctrl-C does: finished trials are kept."""
        with self._lock:
            if self._process is not None and self._state.is_active:
                self._process.send_signal(signal.SIGINT)
                self._state = replace(self._state, phase=RunPhase.STOPPING)
            return self._state

    def state(self) -> SuiteRunState:
        """State of our active or last run."""
        with self._lock:
            return self._state

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until our run has ended."""
        if self._follower is not None:
            self._follower.join(timeout_s)

    def _find(self, name: str) -> Path:
        """Find a suite by its name; paths are not accepted from a browser."""
        found = [path for path in list_suites(self._data_dir()) if path.stem == name]
        if not found:
            raise ConfigError(f"suite `{name}` does not exist")
        return found[0]

    def _open(self, order: SuiteOrder) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "poor_bench", "--data", str(self._data_dir())]
        command = [*program, "suite", "run", str(self._find(order.name)), *order.options]
        environ = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        paths = [str(_PROJECT), *filter(None, [environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Note how a run ended, as soon as it did."""
        said = harmless(process.communicate()[1].decode(errors="replace").strip())
        broken = (RunPhase.BROKEN, said[-_SHOWN_CHARACTERS:] or "The run ended without a message.")
        phase, message = _PHASES.get(process.returncode, broken)
        with self._lock:
            self._state = replace(self._state, phase=phase, message=message)

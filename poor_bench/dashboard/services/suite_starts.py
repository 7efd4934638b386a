"""Runs of suites that the dashboard starts: each in a process of its own, as on the console.

Suites import code of the workspace and drive browsers; neither belongs in the server.
"""

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
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.evaluation.runner import SuiteOptions, plan_trials
from poor_bench.evaluation.suite_file import list_suites, read_suite, select_cases
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from poor_bench.evaluation.trial_run import SuiteTrialPlan

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

"""Runs that the dashboard starts as commands of the console, each in a process of its own.

Suites import code of the workspace and drive browsers, searches may run for hours, and each kind
has its plan, its limits and its journal on the console already. What a command says with
`--dry-run --json` is the plan; Ctrl-C ends a run, and what is finished is kept.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.services.run_plans import MOST_WITHOUT_CONSENT
from poor_bench.dashboard.services.run_state import ACTIVE_PHASES, RunPhase
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.messages import harmless
from poor_bench.providers.endpoint import is_local
from poor_bench.safe_files import load_json_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from poor_bench.models.llm import LLM

_PROJECT = Path(__file__).parents[3]
_SECRETS = ("POOR_BENCH_PASSWORD", "POOR_BENCH_TOKEN")
"""Of the dashboard; suites run other people's code."""
_SHOWN_CHARACTERS = 2000
_PLAN_S = 120.0
_PHASES = {
    0: (RunPhase.FINISHED, ""),
    1: (RunPhase.FINISHED, "Some cases failed."),
    3: (RunPhase.FINISHED, "Some of it could not be run: see the table."),
    130: (RunPhase.CANCELLED, ""),
}
"""By exit code of the command; other codes mean that it could not start or go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleState:
    """State of our active or last run of a kind."""

    phase: RunPhase = RunPhase.IDLE
    name: str = ""
    message: str = ""
    """Why it could not go on, or what its end means."""

    @property
    def is_active(self) -> bool:
        """True while the run is active."""
        return self.phase in ACTIVE_PHASES


class ConsoleRun:
    """Starts and stops runs of one kind, one at a time; shared by all browsers."""

    def __init__(self, data_dir: Callable[[], Path]) -> None:
        """Prepare without starting a run.

        Args:
            data_dir: Returns the folder of the workspace.
        """
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._state = ConsoleState()
        self._process: subprocess.Popen[bytes] | None = None
        self._follower: threading.Thread | None = None

    def plan(self, command: Sequence[str]) -> Mapping[str, Any]:
        """Ask a command for its plan; nothing is started.

        Raises:
            ConfigError: If the command refuses, with what it says.
        """
        with self._open([*command[:2], "--dry-run", *command[2:]], subprocess.PIPE) as process:
            try:
                written, said = process.communicate(timeout=_PLAN_S)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise ConfigError("the plan takes too long") from error
        if process.returncode:
            raise ConfigError(_shorten(said).removeprefix("Error: "))
        plan: Mapping[str, Any] = load_json_text(written.decode("utf-8"))
        return plan

    def start(self, name: str, command: Sequence[str]) -> ConsoleState:
        """Start a run.

        Args:
            name: Names the run on screens.
            command: Words of the command; the first two name it.

        Raises:
            RunRefusedError: If our last run of the kind has not ended.
        """
        with self._lock:
            if self._state.is_active:
                raise RunRefusedError(
                    f"the run {self._state.name} is in progress",
                    hint="Wait until it ends, or cancel it.",
                )
            process = self._process = self._open(command, subprocess.DEVNULL)
            self._state = ConsoleState(phase=RunPhase.RUNNING, name=name)
            self._follower = threading.Thread(target=self._follow, args=(process,), daemon=True)
            self._follower.start()
            return self._state

    def cancel(self) -> ConsoleState:
        """Stop as Ctrl-C does: what is finished is kept."""
        with self._lock:
            if self._process is not None and self._state.is_active:
                self._process.send_signal(signal.SIGINT)
                self._state = replace(self._state, phase=RunPhase.STOPPING)
            return self._state

    def state(self) -> ConsoleState:
        """State of our active or last run."""
        with self._lock:
            return self._state

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until our run has ended."""
        if self._follower is not None:
            self._follower.join(timeout_s)

    def _open(self, command: Sequence[str], output: int) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "poor_bench", "--data", str(self._data_dir())]
        environ = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        paths = [str(_PROJECT), *filter(None, [environ.get("PYTHONPATH")])]
        return subprocess.Popen(
            [*program, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env=environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Note how a run ended, as soon as it did."""
        said = _shorten(process.communicate()[1])
        broken = (RunPhase.BROKEN, said or "The run ended without a message.")
        phase, message = _PHASES.get(process.returncode, broken)
        with self._lock:
            self._state = replace(self._state, phase=phase, message=message)


def _shorten(said: bytes) -> str:
    return harmless(said.decode(errors="replace").strip())[-_SHOWN_CHARACTERS:]


def must_ask(n_calls: int, llms: Iterable[LLM], cost_usd: float | None = 0.0) -> bool:
    """True if a run is long or may cost money, so that people are asked before.

    Args:
        n_calls: Requests or trials.
        llms: Those that are asked.
        cost_usd: Estimated; None where it is not known.
    """
    may_cost = any(llm.prices.input or llm.prices.output or not is_local(llm) for llm in llms)
    return n_calls > MOST_WITHOUT_CONSENT or cost_usd is None or cost_usd > 0 or may_cost


def write_options(**values: object) -> list[str]:
    """Write options of a command; empty ones are left out.

    Example:
        >>> write_options(max_cost=0.5, llm="a:b", trials=None)
        ['--max-cost=0.5', '--llm=a:b', '--json']
    """
    named = {name.replace("_", "-"): value for name, value in values.items()}
    given = [f"--{name}={value}" for name, value in named.items() if value not in (None, "")]
    return [*given, "--json"]

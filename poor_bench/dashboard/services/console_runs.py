"""Runs that the dashboard starts as commands of the console, each in a process of its own.

Suites import code of the workspace and drive browsers, searches may run for hours, and each kind
has its plan, its limits and its journal on the console already. What a command says with
`--dry-run --json` is the plan, and what it prints as it goes on is the log; Ctrl-C ends a run, and
what is finished is kept.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from poor_bench.dashboard.services.run_plans import MOST_WITHOUT_CONSENT
from poor_bench.dashboard.services.run_state import ACTIVE_PHASES, RunPhase
from poor_bench.dashboard.services.running import WAIT, name_other_run
from poor_bench.errors import ConfigError, RunRefusedError
from poor_bench.messages import harmless
from poor_bench.models.llm import LLM
from poor_bench.providers.endpoint import is_local
from poor_bench.safe_files import load_json_text

_PROJECT = Path(__file__).parents[3]
_SECRETS = ("POOR_BENCH_PASSWORD", "POOR_BENCH_TOKEN")
"""Of the dashboard; suites run other people's code."""
_SHOWN_CHARACTERS = 2000
_LOG_LINES, _LINE_CHARACTERS = 8, 300
_KEPT_LINES = 100
_ERROR, _SKIPPED = "Error: ", "Skipped: "
"""Begin what commands print when they cannot go on, and when they leave something out."""
_PLAN_S = 120.0
SUITE_ENDS = {1: "Some cases failed.", 3: "Some cases not run."}
_ENDS = {0: "", 3: "Incomplete: see the log."}
"""What exit codes say of a run that came to its end; others mean that it could not."""
_CANCELLED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleState:
    """State of our active or last run of a kind."""

    phase: RunPhase = RunPhase.IDLE
    name: str = ""
    message: str = ""
    """Why it could not go on, or what its end means."""
    log: tuple[str, ...] = ()
    """Latest lines that it printed, newest first; may quote models."""
    elapsed_s: float = 0.0

    @property
    def is_active(self) -> bool:
        """True while the run is active."""
        return self.phase in ACTIVE_PHASES


class ConsoleRun:
    """Starts and stops runs of one kind, one at a time; shared by all browsers."""

    def __init__(
        self,
        data_dir: Callable[[], Path],
        busy: Callable[[], str] = lambda: "",
        starting: AbstractContextManager[object] | None = None,
        ends: Mapping[int, str] = _ENDS,
    ) -> None:
        """Prepare without starting a run.

        Args:
            data_dir: Returns the folder of the workspace.
            busy: Names the run of another kind that keeps this one from starting; empty if none.
            starting: Lock that those kinds share; held while one of them is started.
            ends: What further exit codes say of a run that came to its end.
        """
        self._data_dir = data_dir
        self._busy = busy
        self._starting = starting or nullcontext()
        self._ends = {**_ENDS, **ends}
        self._lock = threading.Lock()
        self._state = ConsoleState()
        self._started = 0.0
        self._told: deque[str] = deque(maxlen=_KEPT_LINES)
        self._process: subprocess.Popen[bytes] | None = None
        self._follower: threading.Thread | None = None

    def plan(self, command: Sequence[str]) -> Mapping[str, Any]:
        """Ask a command for its plan; nothing is started.

        Raises:
            ConfigError: If the command refuses, with what it says.
        """
        dry = [*command[:2], "--dry-run", "--json", *command[2:]]
        with self._open(dry, subprocess.PIPE) as process:
            try:
                written, said = process.communicate(timeout=_PLAN_S)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise ConfigError("plan took too long") from error
        if process.returncode:
            text = harmless(said.decode(errors="replace").strip())[-_SHOWN_CHARACTERS:]
            raise ConfigError(text.removeprefix(_ERROR))
        plan: Mapping[str, Any] = load_json_text(written.decode("utf-8"))
        return plan

    def start(self, name: str, command: Sequence[str]) -> ConsoleState:
        """Start a run.

        Args:
            name: Names the run on screens.
            command: Words of the command; the first two name it.

        Raises:
            RunRefusedError: If our last run of the kind goes on, or another one is in the way.
        """
        with self._starting:
            state = self.state()
            other = name_other_run(state.name) if state.is_active else self._busy()
            if other:
                raise RunRefusedError(other, hint=WAIT)
            return self._start(name, command)

    def _start(self, name: str, command: Sequence[str]) -> ConsoleState:
        with self._lock:
            process = self._process = self._open(command, subprocess.DEVNULL)
            self._state = ConsoleState(phase=RunPhase.RUNNING, name=name)
            self._started = monotonic()
            self._told.clear()
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
            if not self._state.is_active:
                return self._state
            log = [line[:_LINE_CHARACTERS] for line in self._told][: -_LOG_LINES - 1 : -1]
            return replace(self._state, log=tuple(log), elapsed_s=monotonic() - self._started)

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
        with process.stderr or nullcontext(()) as said:
            for line in said:
                with self._lock:
                    self._told.append(harmless(line.decode(errors="replace").rstrip()))
        phase, message = self._explain(process.wait(), list(self._told))
        ended = self.state()
        with self._lock:
            self._state = replace(ended, phase=phase, message=message)

    def _explain(self, code: int, lines: Sequence[str]) -> tuple[RunPhase, str]:
        """Tell how a run ended, from its last lines why it could not go on, or what it left out."""
        errors = [number for number, line in enumerate(lines) if line.startswith(_ERROR)]
        skipped = [line for line in lines if line.startswith(_SKIPPED)]
        if code == _CANCELLED:
            return RunPhase.CANCELLED, ""
        if code in self._ends and not (code and errors):
            return RunPhase.FINISHED, self._ends[code]
        if skipped and not errors:
            return RunPhase.FINISHED, "\n".join(skipped)[:_SHOWN_CHARACTERS]
        told = "\n".join(lines[errors[-1] if errors else 0 :]).strip()[-_SHOWN_CHARACTERS:]
        return RunPhase.BROKEN, told or "The run failed"


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
        ['--max-cost=0.5', '--llm=a:b']
    """
    named = {name.replace("_", "-"): value for name, value in values.items()}
    return [f"--{name}={value}" for name, value in named.items() if value not in (None, "")]


def write_judges(judges: Sequence[str] | None) -> list[str]:
    """Write the chosen judges as options; none for the judge of config.yaml."""
    names = ("judge", *["panel"] * len(judges or ()))
    return [f"--{name}={judge}" for name, judge in zip(names, judges or (), strict=False)]

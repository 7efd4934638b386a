"""One trial from case to verdict: the only place that catches all exceptions.

An agent cannot hold up the run: one that does not end is abandoned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from poor_bench.errors import (
    AgentError,
    ConfigError,
    CostLimitError,
    PoorBenchError,
    RecordedError,
    RunCancelledError,
    StoreError,
)
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    Step,
    TrialControl,
    write_plain_fields,
)
from poor_bench.evaluation.browser.playbook_file import explain_missing_playbook, find_playbook
from poor_bench.evaluation.browser.redaction import Redactor, make_redactor
from poor_bench.evaluation.factories import serve_application
from poor_bench.evaluation.models import SERVER, EvalCase, EvalTrialResult
from poor_bench.evaluation.profiles import Profiles
from poor_bench.evaluation.scoring import score_trial
from poor_bench.evaluation.stored_run import (
    SuiteRunWriter,
    TrialWriter,
    convert_to_plain,
    locate_artifacts,
)
from poor_bench.evaluation.suite_file import DEFAULT_PROFILE
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTrialPlan:
    """One planned trial."""

    case: EvalCase
    trial: int
    """Counted from 1."""
    llm: LLM | None

    @property
    def prices(self) -> Prices:
        """Prices of its LLM; unknown ones where it has none."""
        return self.llm.prices if self.llm else Prices()


def build_task(
    plan: SuiteTrialPlan, services: AgentServices, server: str, folder: Path, suite_folder: Path
) -> AgentTask:
    """Make the task of a trial, with its placeholders filled.

    Args:
        plan: The trial.
        services: Source of credentials and playbooks.
        server: Address of the suite's own server; empty without one.
        folder: Folder of the trial.
        suite_folder: Folder of the suite file.

    Raises:
        ConfigError: If a credential is not set, or the playbook does not exist.
    """
    case = plan.case
    credentials = case.credentials or {}
    missing = [name for name in credentials if not services.environ.get(name)]
    if missing:
        names = ", ".join(f"${name}" for name in missing)
        raise ConfigError(f"case {case.id} needs {names}: not set in the environment")
    return AgentTask(
        case_id=case.id,
        trial=plan.trial,
        directive=case.directive.replace(SERVER, server),
        execution_mode=case.execution_mode,
        may_hand_off=case.expect.handoff != "forbid",
        start_url=case.start_url.replace(SERVER, server) if case.start_url else None,
        max_steps=case.max_steps,
        time_limit_s=case.time_limit_s,
        token_limit=case.token_limit,
        read_at_end=case.read_at_end,
        thinking=case.thinking,
        output_schema=case.output_schema,
        playbook=_find_playbook(case, services.data_dir, suite_folder),
        playbook_params=_fill_params(case.playbook_params, server),
        credentials={name: origin.replace(SERVER, server) for name, origin in credentials.items()},
        allow_private_networks=case.allow_private_networks,
        llm=plan.llm,
        folder=folder,
    )


def _find_playbook(case: EvalCase, data_dir: Path, suite_folder: Path) -> Path | None:
    if case.playbook is None or case.execution_mode == "agent_only":
        return None
    path = find_playbook(case.playbook, data_dir, suite_folder)
    if path is None:
        hint = explain_missing_playbook(case.playbook, data_dir)
        raise ConfigError(f"case {case.id}: playbook `{case.playbook}` does not exist", hint=hint)
    return path


def _fill_params(written: Mapping[str, Any], server: str) -> dict[str, Any]:
    filled = {
        name: value.replace(SERVER, server) if isinstance(value, str) else value
        for name, value in written.items()
    }
    return {"server": server, **filled} if server else filled


class StepTeller:
    """Stores the steps of one trial without secrets, then passes them on."""

    def __init__(
        self, writer: TrialWriter, redactor: Redactor, note: Callable[[Step], None]
    ) -> None:
        self._writer = writer
        self._redactor = redactor
        self._note = note
        self._broken: Exception | None = None

    def __call__(self, step: Step) -> None:
        """Take one step."""
        try:
            masked = self._redactor.step(replace(step, action=convert_to_plain(step.action)))
            self._writer.append(masked)
            self._note(masked)
        except Exception as error:
            self._broken = error
            raise

    def raise_if_broken(self) -> None:
        """Raise the error that prevented storing a step, even if the agent has swallowed it.

        Raises:
            StoreError: If a step could not be stored.
            Exception: Any other error, such as one of the listener.
        """
        if self._broken is not None:
            raise self._broken


_MOST_PROBLEMS = 3


class TrialRunner:
    """Runs trials of one suite; called from several threads."""

    def __init__(
        self,
        services: AgentServices,
        profiles: Profiles,
        writer: SuiteRunWriter,
        *,
        server: str | None,
        suite_folder: Path,
    ) -> None:
        self._services = services
        self._profiles = profiles
        self._writer = writer
        self._server = server
        self._suite_folder = suite_folder

    def run(
        self, plan: SuiteTrialPlan, cancelled: Callable[[], bool], note: Callable[[Step], None]
    ) -> EvalTrialResult:
        """Run one trial and judge it; a trial that could not be run has no verdict.

        Args:
            plan: What to run.
            cancelled: Polled; true ends the trial.
            note: Called with every step once it is stored.

        Raises:
            RunCancelledError: If `cancelled()` turned true; the trial has no result then.
            StoreError: If steps could not be stored.
        """
        case = plan.case
        blank = EvalTrialResult(
            case_id=case.id,
            trial_index=plan.trial - 1,
            llm_id=plan.llm.id if plan.llm else "",
            started=self._services.clock.now_iso(),
            artifacts=locate_artifacts(case.id, plan.trial),
        )
        environ = self._services.environ
        redactor = make_redactor(case.credentials or (), plan.llm, environ, case.profile)
        try:
            attempted = self._attempt(plan, blank, redactor, cancelled, note)
            return score_trial(case, attempted, plan.prices)
        except (RunCancelledError, StoreError):
            raise
        except RecordedError as error:
            return _build_failed(blank, error.kind, redactor.text(_describe_error(error)))
        except PoorBenchError as error:
            return _build_failed(blank, FailureKind.SETTINGS, redactor.text(_describe_error(error)))
        except Exception as error:  # noqa: BLE001 - a bug of ours must not end the run
            reason = f"{type(error).__name__}: {error}"
            return _build_failed(blank, FailureKind.INTERNAL, redactor.text(reason))

    def _attempt(
        self,
        plan: SuiteTrialPlan,
        blank: EvalTrialResult,
        redactor: Redactor,
        cancelled: Callable[[], bool],
        note: Callable[[Step], None],
    ) -> EvalTrialResult:
        clock = self._services.clock
        with ExitStack() as stack:
            writer = self._writer.open_trial(plan.case.id, plan.trial)
            stack.callback(writer.close)
            told = StepTeller(writer, redactor, note)
            server = self._serve(plan.case, stack)
            task = build_task(plan, self._services, server, writer.folder, self._suite_folder)
            agent = self._profiles.agent(plan.case.profile)
            begun = clock.monotonic()
            supervisor = Supervisor(clock=clock)
            is_ours = plan.case.profile == DEFAULT_PROFILE
            supervised = supervisor.run_browser if is_ours else supervisor.run_custom
            control = TrialControl(cancelled=cancelled, note_step=told)
            outcome = supervised(partial(agent.run, task), control, task.time_limit_s)
            duration_ms = (clock.monotonic() - begun) * 1000
            told.raise_if_broken()
            budget = self._services.llms.budget
            if budget is not None and budget.is_reached and not outcome.success:
                # The agent failed, or seems to have failed, because nothing more may be spent.
                raise CostLimitError(f"{budget}: the trial stays pending")
        changes = {
            **{name: redactor.value(value) for name, value in write_plain_fields(outcome).items()},
            "mode": outcome.mode,
            "data": redactor.value(convert_to_plain(outcome.data)),
            "handed_off": outcome.mode == "handoff",
            "duration_ms": round(duration_ms, 3),
            "server": server,
        }
        return blank.model_copy(update=changes)

    def _serve(self, case: EvalCase, stack: ExitStack) -> str:
        """Start the suite's own server until `stack` ends; its address, or an empty string."""
        if not self._server:
            return ""
        environ = self._services.environ
        known = {name: environ[name] for name in case.credentials or () if name in environ}
        return stack.enter_context(serve_application(self._server, known))


def _describe_error(error: PoorBenchError) -> str:
    """Write the message of an error with its hint, and the first problems of a broken file."""
    hint = f" ({error.hint})" if error.hint else ""
    problems = error.problems if isinstance(error, ConfigError) else ()
    shown = "; ".join(map(str, problems[:_MOST_PROBLEMS]))
    return f"{error}{hint}: {shown}" if shown else f"{error}{hint}"


def _build_failed(blank: EvalTrialResult, kind: FailureKind, message: str) -> EvalTrialResult:
    return blank.model_copy(update={"failure": Failure(kind=kind, message=message)})


RunAgent = Callable[[TrialControl], AgentOutcome]
_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisor:
    """Ends trials whose agent does not end by itself. All times are in seconds."""

    clock: Clock
    after_stop_s: float = 30
    """Grace after the run was stopped: longer than a browser takes that must be killed."""
    after_time_limit_s: float = 120
    """Grace of our browser, whose time limit does not count its start and its end."""
    to_report_s: float = 3
    """Grace of any other agent to report its tokens and actions after its time limit."""

    def run_browser(
        self, agent: RunAgent, control: TrialControl, time_limit_s: float
    ) -> AgentOutcome:
        """Run an agent that keeps its time limit itself.

        Raises:
            RunCancelledError: If the run was stopped and the agent did not return.
            AgentError: If it did not return long after its time limit.
        """
        end_s = self.clock.monotonic() + time_limit_s + self.after_time_limit_s
        with _SupervisedAgent(agent, control) as work:
            if self._ends_by(end_s, work.future, control):
                return work.future.result()
        raise AgentError(
            f"the browser did not end within {self.after_time_limit_s:.0f} s after the time limit "
            f"of {time_limit_s:g} s, and was abandoned",
            kind=FailureKind.AGENT,
        )

    def run_custom(
        self, agent: RunAgent, control: TrialControl, time_limit_s: float
    ) -> AgentOutcome:
        """Run an agent that is not ours: what has no outcome at the time limit has failed.

        At the limit `control.cancelled()` turns true. What the agent returns after that is kept,
        except for its success.

        Raises:
            RunCancelledError: If the run was stopped and the agent did not return.
        """
        end_s = self.clock.monotonic() + time_limit_s
        with _SupervisedAgent(agent, control) as work:
            if self._ends_by(end_s, work.future, control):
                return work.future.result()
            work.ask_to_stop()
            is_late = self._ends_by(end_s + self.to_report_s, work.future, control)
            return _report_time_limit(work.future if is_late else None, time_limit_s)

    def _ends_by(self, end_s: float, future: Future[AgentOutcome], control: TrialControl) -> bool:
        """Wait for an agent; false if it is still at work at `end_s`."""
        stopped_s: float | None = None
        while not future.done():
            left_s = max(end_s - self.clock.monotonic(), 0.0)
            with suppress(NotYetError):
                future.exception(min(_INTERVAL_S, left_s))
            now_s = self.clock.monotonic()
            if control.cancelled():
                stopped_s = now_s if stopped_s is None else stopped_s
                if now_s - stopped_s > self.after_stop_s and not future.done():
                    raise RunCancelledError("the agent did not stop, and was abandoned")
            elif now_s >= end_s and not future.done():
                return False
        return True


class _SupervisedAgent:
    """An agent at work in a thread of its own; abandoned when the context is left."""

    def __init__(self, agent: RunAgent, control: TrialControl) -> None:
        self.future: Future[AgentOutcome] = Future()
        self._agent = agent
        self._control = control
        self._must_stop = threading.Event()
        self._is_abandoned = threading.Event()

    def __enter__(self) -> _SupervisedAgent:
        # A daemon: no thread can be killed from outside, and one that never ends must not keep
        # the process alive.
        threading.Thread(target=self._settle, name="agent", daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_abandoned.set()
        self._must_stop.set()

    def ask_to_stop(self) -> None:
        """Let `cancelled()` of the agent's control turn true."""
        self._must_stop.set()

    def _settle(self) -> None:
        control = TrialControl(cancelled=self._is_cancelled, note_step=self._note_step)
        try:
            self.future.set_result(self._agent(control))
        except BaseException as error:  # noqa: BLE001 - raised again where the trial is run
            self.future.set_exception(error)

    def _is_cancelled(self) -> bool:
        return self._must_stop.is_set() or self._control.cancelled()

    def _note_step(self, step: Step) -> None:
        if self._is_abandoned.is_set():
            raise RunCancelledError("the trial was abandoned")
        self._control.note_step(step)


def _report_time_limit(late: Future[AgentOutcome] | None, time_limit_s: float) -> AgentOutcome:
    error = f"no outcome within the time limit of {time_limit_s:g} s"
    if late is None or late.exception() is not None:
        return AgentOutcome(success=False, error=error)
    return replace(late.result(), success=False, error=error)

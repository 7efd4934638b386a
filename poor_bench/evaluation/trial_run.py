"""One trial from case to verdict: the only place that catches all exceptions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from poor_bench.errors import (
    ConfigError,
    PoorBenchError,
    RecordedError,
    RunCancelledError,
    StoreError,
)
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, Step, TrialControl
from poor_bench.evaluation.browser.safety.redaction import Redactor, redactor_of_trial
from poor_bench.evaluation.case_checks import DEFAULT_PROFILE
from poor_bench.evaluation.models import EvalCase, EvalTrialResult
from poor_bench.evaluation.profiles import Profiles
from poor_bench.evaluation.records import as_plain
from poor_bench.evaluation.run_folder import RunWriter, artifacts_of
from poor_bench.evaluation.scoring import score_trial
from poor_bench.evaluation.step_teller import StepTeller
from poor_bench.evaluation.suite_server import serving
from poor_bench.evaluation.supervisor import Supervisor
from poor_bench.evaluation.trial_task import TrialPlan, build_task
from poor_bench.models.failure import Failure, FailureKind

_MOST_PROBLEMS = 3


class TrialRunner:
    """Runs trials of one suite; called from several threads."""

    def __init__(
        self,
        services: AgentServices,
        profiles: Profiles,
        writer: RunWriter,
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
        self, plan: TrialPlan, cancelled: Callable[[], bool], note: Callable[[Step], None]
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
            artifacts=artifacts_of(case.id, plan.trial),
        )
        environ = self._services.environ
        redactor = redactor_of_trial(case.credentials or (), plan.llm, environ, case.profile)
        try:
            attempted = self._attempt(plan, blank, redactor, cancelled, note)
            return score_trial(case, attempted, plan.prices)
        except (RunCancelledError, StoreError):
            raise
        except RecordedError as error:
            return _failed(blank, error.kind, redactor.text(_told(error)))
        except PoorBenchError as error:
            return _failed(blank, FailureKind.SETTINGS, redactor.text(_told(error)))
        except Exception as error:  # noqa: BLE001 - a bug of ours must not end the run
            reason = f"{type(error).__name__}: {error}"
            return _failed(blank, FailureKind.INTERNAL, redactor.text(reason))

    def _attempt(
        self,
        plan: TrialPlan,
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
        result = _with_outcome(blank, outcome, redactor)
        changes = {"duration_ms": round(duration_ms, 3), "server": server}
        return result.model_copy(update=changes)

    def _serve(self, case: EvalCase, stack: ExitStack) -> str:
        """Start the suite's own server until `stack` ends; its address, or an empty string."""
        if not self._server:
            return ""
        environ = self._services.environ
        known = {name: environ[name] for name in case.credentials or () if name in environ}
        return stack.enter_context(serving(self._server, known))


def _with_outcome(
    blank: EvalTrialResult, outcome: AgentOutcome, redactor: Redactor
) -> EvalTrialResult:
    changes = {
        "success": outcome.success,
        "mode": outcome.mode,
        "handed_off": outcome.mode == "handoff",
        "summary": redactor.text(outcome.summary),
        "error": redactor.text(outcome.error),
        "traceback": redactor.text(outcome.traceback),
        "data": redactor.value(as_plain(outcome.data)),
        "read_errors": redactor.value(dict(outcome.read_errors)),
        "extracted_text": redactor.text(outcome.extracted_text),
        "actions": outcome.actions,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
    }
    return blank.model_copy(update=changes)


def _told(error: PoorBenchError) -> str:
    """The message of an error with its hint, and with the problems of a file that is broken."""
    hint = f" ({error.hint})" if error.hint else ""
    problems = error.problems if isinstance(error, ConfigError) else ()
    shown = "; ".join(map(str, problems[:_MOST_PROBLEMS]))
    return f"{error}{hint}: {shown}" if shown else f"{error}{hint}"


def _failed(blank: EvalTrialResult, kind: FailureKind, message: str) -> EvalTrialResult:
    return blank.model_copy(update={"failure": Failure(kind=kind, message=message)})

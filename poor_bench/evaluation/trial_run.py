"""One trial from case to verdict: the only place that catches everything."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from poor_bench.errors import PoorBenchError, RecordedError, RunCancelledError, StoreError
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, Step, TrialControl
from poor_bench.evaluation.browser.safety.redaction import Redactor
from poor_bench.evaluation.models import EvalCase, EvalTrialResult
from poor_bench.evaluation.oversight import Oversight
from poor_bench.evaluation.profiles import Profiles
from poor_bench.evaluation.records import as_plain
from poor_bench.evaluation.run_folder import RunWriter, artifacts_of
from poor_bench.evaluation.scoring import score_trial
from poor_bench.evaluation.step_teller import StepTeller
from poor_bench.evaluation.suite_server import serving
from poor_bench.evaluation.trial_task import TrialPlan, build_task
from poor_bench.models.failure import Failure, FailureKind


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
        """Run one trial and judge it; what is a failure of ours has no verdict.

        Args:
            plan: What to run.
            cancelled: Asked again and again; true ends the trial.
            note: Told every step when it is stored.

        Raises:
            RunCancelledError: If `cancelled()` turned true; nothing is known of the trial then.
            StoreError: If steps could not be stored.
        """
        case = plan.case
        blank = EvalTrialResult(
            case_id=case.id,
            trial=plan.trial,
            llm_id=plan.llm.id if plan.llm else "",
            started=self._services.clock.now_iso(),
            artifacts=artifacts_of(case.id, plan.trial),
        )
        environ = self._services.environ
        redactor = Redactor({name: environ.get(name, "") for name in case.credentials})
        try:
            return score_trial(case, self._attempt(plan, blank, redactor, cancelled, note))
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
            outcome = Oversight(clock=clock).run(
                partial(agent.run, task),
                TrialControl(cancelled=cancelled, note_step=told),
                task.time_limit_s,
            )
            duration_ms = (clock.monotonic() - begun) * 1000
            told.raise_if_broken()
        result = _with_outcome(blank, outcome, redactor)
        return replace(result, duration_ms=round(duration_ms, 3), server=server)

    def _serve(self, case: EvalCase, stack: ExitStack) -> str:
        """Start the suite's own server until `stack` ends; return its address, or nothing."""
        if not self._server:
            return ""
        environ = self._services.environ
        known = {name: environ[name] for name in case.credentials if name in environ}
        return stack.enter_context(serving(self._server, known))


def _with_outcome(
    blank: EvalTrialResult, outcome: AgentOutcome, redactor: Redactor
) -> EvalTrialResult:
    return replace(
        blank,
        success=outcome.success,
        mode=outcome.mode,
        handed_off=outcome.mode == "handoff",
        summary=redactor.text(outcome.summary),
        error=redactor.text(outcome.error),
        data=redactor.value(as_plain(outcome.data)),
        extracted_text=redactor.text(outcome.extracted_text),
        actions=outcome.actions,
        input_tokens=outcome.input_tokens,
        output_tokens=outcome.output_tokens,
    )


def _told(error: PoorBenchError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)


def _failed(blank: EvalTrialResult, kind: FailureKind, message: str) -> EvalTrialResult:
    return replace(blank, failure=Failure(kind=kind, message=message))

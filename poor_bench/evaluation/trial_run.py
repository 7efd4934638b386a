"""One trial from case to verdict: the only place that catches everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from poor_bench.errors import (
    ConfigError,
    PoorBenchError,
    RecordedError,
    RunCancelledError,
    StoreError,
)
from poor_bench.evaluation.agent import AgentOutcome, AgentServices, AgentTask, Step, TrialControl
from poor_bench.evaluation.browser.safety.redaction import Redactor
from poor_bench.evaluation.models import SERVER, EvalCase, EvalTrialResult
from poor_bench.evaluation.playbook_files import find_playbook
from poor_bench.evaluation.profiles import Profiles
from poor_bench.evaluation.run_folder import RunWriter, artifacts_of
from poor_bench.evaluation.scoring import score_trial
from poor_bench.evaluation.suite_server import serving
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.llm import LLM


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial that is to be run."""

    case: EvalCase
    trial: int
    """Counted from 1."""
    llm: LLM | None


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
            return _failed(blank, error.kind, redactor.text(str(error)))
        except PoorBenchError as error:
            return _failed(blank, FailureKind.SETTINGS, redactor.text(str(error)))
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

            def note_step(step: Step) -> None:
                masked = _masked_step(step, redactor)
                writer.append(masked)
                note(masked)

            server = self._serve(plan.case, stack)
            task = self._task(plan, server, writer.folder)
            agent = self._profiles.agent(plan.case.profile)
            begun = clock.monotonic()
            outcome = agent.run(task, TrialControl(cancelled=cancelled, note_step=note_step))
            duration_ms = (clock.monotonic() - begun) * 1000
        result = _with_outcome(blank, outcome, redactor)
        return replace(result, duration_ms=round(duration_ms, 3), server=server)

    def _serve(self, case: EvalCase, stack: ExitStack) -> str:
        """Start the suite's own server until `stack` ends; return its address, or nothing."""
        if not self._server:
            return ""
        environ = self._services.environ
        known = {name: environ[name] for name in case.credentials if name in environ}
        return stack.enter_context(serving(self._server, known))

    def _task(self, plan: TrialPlan, server: str, folder: Path) -> AgentTask:
        """Return the task of a trial, its placeholders filled."""
        case = plan.case
        missing = [name for name in case.credentials if not self._services.environ.get(name)]
        if missing:
            names = ", ".join(f"${name}" for name in missing)
            raise ConfigError(f"case {case.id} needs {names}, which the environment does not have")
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
            playbook=self._playbook(case),
            playbook_params=_params(case.playbook_params, server),
            credentials={
                name: origin.replace(SERVER, server) for name, origin in case.credentials.items()
            },
            allow_private_networks=case.allow_private_networks,
            llm=plan.llm,
            folder=folder,
        )

    def _playbook(self, case: EvalCase) -> Path | None:
        if case.playbook is None or case.execution_mode == "agent_only":
            return None
        path = find_playbook(case.playbook, self._services.data_dir, self._suite_folder)
        if path is None:
            raise ConfigError(f"case {case.id}: there is no playbook {case.playbook}")
        return path


def _params(written: Mapping[str, Any], server: str) -> dict[str, Any]:
    filled = {
        name: value.replace(SERVER, server) if isinstance(value, str) else value
        for name, value in written.items()
    }
    return {"server": server, **filled} if server else filled


def _masked_step(step: Step, redactor: Redactor) -> Step:
    return replace(
        step,
        action=redactor.value(step.action),
        text=redactor.text(step.text),
        url=redactor.text(step.url),
        title=redactor.text(step.title),
        thought=redactor.text(step.thought),
        result=redactor.text(step.result),
        error=redactor.text(step.error),
    )


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
        data=redactor.value(outcome.data),
        extracted_text=redactor.text(outcome.extracted_text),
        actions=outcome.actions,
        input_tokens=outcome.input_tokens,
        output_tokens=outcome.output_tokens,
    )


def _failed(blank: EvalTrialResult, kind: FailureKind, message: str) -> EvalTrialResult:
    return replace(blank, failure=Failure(kind=kind, message=message))

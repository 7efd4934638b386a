"""From the profile of a case to the agent that it names."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping

from poor_bench.errors import AgentError, PoorBenchError, RunCancelledError, describe_crash
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    AgentUnderTest,
    Step,
    TrialControl,
    plain_fields,
    read_outcome,
    read_step,
)
from poor_bench.evaluation.browser.addresses import split_web_url
from poor_bench.evaluation.browser.redaction import make_redactor
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.http_agent import HttpAgent
from poor_bench.evaluation.suite_file import DEFAULT_PROFILE
from poor_bench.models.failure import FailureKind

_LONGEST_TRACEBACK = 20_000


class Profiles:
    """Makes each agent once, at its first use."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services
        self._agents: dict[str, AgentUnderTest] = {}
        self._lock = threading.Lock()

    def agent(self, profile: str) -> AgentUnderTest:
        """Look up the agent of a profile; make it at its first use.

        Raises:
            ConfigError: If its factory does not exist.
            MissingExtraError: If it needs a package that is not installed.
            AgentError: If its factory fails.
        """
        with self._lock:
            if profile not in self._agents:
                self._agents[profile] = self._create(profile)
            return self._agents[profile]

    def _create(self, profile: str) -> AgentUnderTest:
        if profile == DEFAULT_PROFILE:
            from poor_bench.evaluation.browser.agent import browser_agent

            return browser_agent(self._services)
        if split_web_url(profile) is not None:
            return HttpAgent(profile, self._services)
        factory = import_factory(profile)
        try:
            return CustomAgent(factory(self._services), profile, self._services.environ)
        except PoorBenchError:
            raise
        except Exception as error:
            message = f"the factory {profile} raised {describe_crash(error)}"
            raise AgentError(message, kind=FailureKind.AGENT) from error


class CustomAgent:
    """An agent of the user: a crash or a bad outcome is a failure of the agent under test."""

    def __init__(self, agent: AgentUnderTest, profile: str, environ: Mapping[str, str]) -> None:
        self._agent = agent
        self._environ = environ
        self._profile = profile

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task.

        Raises:
            PoorBenchError: If the agent raises one, to say that the failure is not its own.
            RunCancelledError: If the run was stopped.
        """
        checked = TrialControl(
            cancelled=control.cancelled,
            note_step=lambda step: control.note_step(_check_step(step)),
        )
        try:
            outcome = self._agent.run(task, checked)
        except RunCancelledError as error:
            if control.cancelled():
                raise
            return self._report_crash(error, task)
        except PoorBenchError:
            raise
        except BaseException as error:  # noqa: BLE001 - even sys.exit() must not end the run
            return self._report_crash(error, task)
        return self._read(outcome)

    def _report_crash(self, error: BaseException, task: AgentTask) -> AgentOutcome:
        redactor = make_redactor(task.credentials, task.llm, self._environ, self._profile)
        own = error.__traceback__.tb_next if error.__traceback__ else None
        lines = traceback.format_exception(type(error), error, own)
        return AgentOutcome(
            success=False,
            error=f"agent {self._profile} raised {describe_crash(error, hide=redactor.text)}",
            traceback=redactor.text("".join(lines))[-_LONGEST_TRACEBACK:],
        )

    def _read(self, returned: object) -> AgentOutcome:
        if not isinstance(returned, AgentOutcome):
            error = f"agent {self._profile} returned {type(returned).__name__}, not AgentOutcome"
            return AgentOutcome(success=False, error=error)
        try:
            return read_outcome(plain_fields(returned))
        except ValueError as error:
            message = f"agent {self._profile} returned a bad AgentOutcome: {error}"
            return AgentOutcome(success=False, error=message)


def _check_step(step: object) -> Step:
    if not isinstance(step, Step):
        raise TypeError(f"note_step() takes a Step, not {type(step).__name__}")
    return read_step(plain_fields(step))

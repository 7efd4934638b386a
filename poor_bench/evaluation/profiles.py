"""From the profile of a case to the agent that it names."""

from __future__ import annotations

import threading

from poor_bench.errors import AgentError, PoorBenchError, describe_crash
from poor_bench.evaluation.agent import Agent, AgentOutcome, AgentServices, AgentTask, TrialControl
from poor_bench.evaluation.case_checks import DEFAULT_PROFILE, split_web_url
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.http_agent import HttpAgent
from poor_bench.models.failure import FailureKind


class Profiles:
    """Makes each agent once, when it is first asked for."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services
        self._agents: dict[str, Agent] = {}
        self._lock = threading.Lock()

    def agent(self, profile: str) -> Agent:
        """Return the agent of a profile.

        Raises:
            ConfigError: If it names a factory that is not there.
            MissingExtraError: If it needs a package that is not installed.
            AgentError: If its factory fails.
        """
        with self._lock:
            if profile not in self._agents:
                self._agents[profile] = self._create(profile)
            return self._agents[profile]

    def _create(self, profile: str) -> Agent:
        if profile == DEFAULT_PROFILE:
            from poor_bench.evaluation.browser.agent import browser_agent

            return browser_agent(self._services)
        if split_web_url(profile) is not None:
            return HttpAgent(profile, self._services)
        factory = import_factory(profile)
        try:
            return ForeignAgent(factory(self._services), profile)
        except PoorBenchError:
            raise
        except Exception as error:
            raise _failed(profile, error) from error


class ForeignAgent:
    """Somebody else's agent: whatever it raises or returns is told as what it is."""

    def __init__(self, agent: Agent, profile: str) -> None:
        self._agent = agent
        self._profile = profile

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task.

        Raises:
            AgentError: If the agent raises something that is not ours, or returns no outcome.
        """
        try:
            outcome = self._agent.run(task, control)
        except PoorBenchError:
            raise
        except Exception as error:
            raise _failed(self._profile, error) from error
        return _outcome(outcome, self._profile)


def _outcome(returned: object, profile: str) -> AgentOutcome:
    if not isinstance(returned, AgentOutcome):
        message = f"agent {profile} returned {type(returned).__name__}, not AgentOutcome"
        raise AgentError(message, kind=FailureKind.AGENT)
    return returned


def _failed(profile: str, error: Exception) -> AgentError:
    message = f"agent {profile} raised {describe_crash(error)}"
    return AgentError(message, kind=FailureKind.AGENT)

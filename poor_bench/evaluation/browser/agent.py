"""Profile `default`: a playbook, an LLM, or one after the other, in a real browser."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from poor_bench.evaluation.agent import Agent, AgentOutcome, AgentServices, AgentTask, TrialControl
from poor_bench.evaluation.browser.data_paths import put
from poor_bench.evaluation.browser.llm_agent.act import LLMAgent
from poor_bench.evaluation.browser.output_schema import schema_fault
from poor_bench.evaluation.browser.playbook.follow import follow
from poor_bench.evaluation.browser.playbook.load import load_playbook
from poor_bench.evaluation.browser.safety.network import Network
from poor_bench.evaluation.browser.session.errors import ActionError, OutOfTimeError
from poor_bench.evaluation.browser.session.opening import open_session
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.session.watchdog import Patience
from poor_bench.evaluation.execution_mode import run_in_mode

_PATIENCE = Patience()


def browser_agent(services: AgentServices, network: Network | None = None) -> Agent:
    """Make the agent of the profile `default`.

    Args:
        services: LLMs, environment and clock.
        network: Network of the browser; the machine's own by default.
    """
    return BrowserAgent(services, network)


class BrowserAgent:
    """Runs trials, each in a browser of its own. See `run_in_mode` for who acts."""

    def __init__(
        self, services: AgentServices, network: Network | None, patience: Patience = _PATIENCE
    ) -> None:
        self._services = services
        self._network = network
        self._patience = patience

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task; see `Agent`."""
        return run_in_mode(self, task, control)

    def open_session(
        self, task: AgentTask, control: TrialControl
    ) -> AbstractContextManager[BrowserSession]:
        """Start a browser; see `AgentParts`."""
        return open_session(
            task,
            control,
            environ=self._services.environ,
            clock=self._services.clock,
            network=self._network,
            patience=self._patience,
        )

    def follow_playbook(
        self, session: BrowserSession, task: AgentTask, control: TrialControl
    ) -> AgentOutcome:
        """Follow the task's playbook; see `AgentParts`."""
        playbook = load_playbook(task.playbook or Path())
        outcome = follow(
            playbook, task.playbook_params, session, control, self._services.clock, task.max_steps
        )
        return _finished(outcome, session, task)

    def act(
        self,
        session: BrowserSession,
        task: AgentTask,
        control: TrialControl,
        handed_off: AgentOutcome | None,
    ) -> AgentOutcome:
        """Let the task's LLM act; see `AgentParts`."""
        agent = LLMAgent(self._services.llms, self._services.clock)
        outcome = agent.act(session, task, control, handed_off)
        return _finished(outcome, session, task)


def _finished(outcome: AgentOutcome, session: BrowserSession, task: AgentTask) -> AgentOutcome:
    """Check the data against the schema, add the facts of the page, and redact everything."""
    fault = schema_fault(outcome.data, task.output_schema) if outcome.success else ""
    if fault:
        outcome = replace(
            outcome, success=False, error=f"the data violate the output schema: {fault}"
        )
    clean = session.redactor
    data, errors = _with_facts(outcome.data, session, task)
    return replace(
        outcome,
        summary=clean.text(outcome.summary),
        error=clean.text(outcome.error),
        extracted_text=clean.text(outcome.extracted_text),
        data=clean.value(data),
        read_errors={path: clean.text(error) for path, error in errors.items()},
    )


def _with_facts(
    data: Mapping[str, Any], session: BrowserSession, task: AgentTask
) -> tuple[dict[str, Any], dict[str, str]]:
    """Replace what the agent reports by what the page says; null and a reason where that fails."""
    facts = deepcopy(dict(data))
    errors: dict[str, str] = {}
    for path, expression in task.read_at_end.items():
        value = None
        try:
            value = session.read_fact(expression)
        except ActionError as error:
            errors[path] = str(error)
        except OutOfTimeError:
            errors[path] = "the time limit is reached"
        put(facts, path, value)
    return facts, errors

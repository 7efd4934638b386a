"""The profile `default`: a playbook, an LLM, or one after the other, in a real browser."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
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
from poor_bench.evaluation.browser.session.errors import OutOfTimeError
from poor_bench.evaluation.browser.session.opening import open_session
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.session.watchdog import Patience
from poor_bench.evaluation.execution_mode import run_in_mode

_PATIENCE = Patience()


def browser_agent(services: AgentServices, network: Network | None = None) -> Agent:
    """Return the agent of the profile `default`.

    Args:
        services: LLMs, environment and clock.
        network: The browser's way out; the machine's own by default.
    """
    return BrowserAgent(services, network)


class BrowserAgent:
    """Runs trials; each has a browser of its own. See `run_in_mode` for who acts."""

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
        """Do what the task's playbook says; see `AgentParts`."""
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
    """Hold the data against the schema, add the facts of the page, and mask everything."""
    fault = schema_fault(outcome.data, task.output_schema) if outcome.success else ""
    if fault:
        outcome = replace(outcome, success=False, error=f"the data break the schema: {fault}")
    clean = session.redactor
    return replace(
        outcome,
        summary=clean.text(outcome.summary),
        error=clean.text(outcome.error),
        extracted_text=clean.text(outcome.extracted_text),
        data=clean.value(_with_facts(outcome.data, session, task)),
    )


def _with_facts(
    data: Mapping[str, Any], session: BrowserSession, task: AgentTask
) -> dict[str, Any]:
    facts: dict[str, Any] = dict(data)
    try:
        for path, value in session.read_facts(task.read_at_end).items():
            put(facts, path, value)
    except OutOfTimeError:
        return facts
    return facts

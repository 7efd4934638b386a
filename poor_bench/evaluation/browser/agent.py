"""Profile `default`: a playbook, an LLM agent, or one after the other, in a real browser."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import (
    AgentOutcome,
    AgentServices,
    AgentTask,
    TrialControl,
)
from poor_bench.evaluation.browser.llm_turns import act_with_llm
from poor_bench.evaluation.browser.opening import open_session
from poor_bench.evaluation.browser.playbook_file import load_playbook
from poor_bench.evaluation.browser.playbook_run import follow
from poor_bench.evaluation.browser.session import ActionError, BrowserSession, OutOfTimeError
from poor_bench.evaluation.checks import find_schema_fault, set_path
from poor_bench.evaluation.models import Mode


class BrowserAgent:
    """Runs trials, each in a browser of its own."""

    def __init__(self, services: AgentServices) -> None:
        self._services = services

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Run one trial in the execution mode of its task.

        - `playbook_only`: the playbook; never an LLM.
        - `agent_only`: the LLM agent; a playbook is ignored.
        - `hybrid_auto`: the playbook if there is one, else the LLM agent. A playbook that fails
          hands off to the agent, from the state that it reached, unless the task forbids it or
          there is no LLM; then its failure stands.

        Returns:
            The outcome. After a handoff success, summary and error are the agent's, actions and
            tokens those of both, data those of both (the agent's win), texts one after the other.

        Raises:
            ConfigError: If the mode needs a playbook or an LLM that the task does not have.
        """
        uses_playbook = task.playbook is not None and task.execution_mode != "agent_only"
        _check(task, uses_playbook=uses_playbook)
        try:
            return self._run(task, control, uses_playbook=uses_playbook)
        except OutOfTimeError:  # the start page took all of it
            mode: Mode = "playbook" if uses_playbook else "agent"
            return AgentOutcome(success=False, error="the time limit is reached", mode=mode)

    def _run(self, task: AgentTask, control: TrialControl, *, uses_playbook: bool) -> AgentOutcome:
        with self.open_session(task, control) as session:
            if not uses_playbook:
                return replace(self.act(session, task, control, None), mode="agent")
            followed = replace(self.follow_playbook(session, task, control), mode="playbook")
            if followed.success or not _hands_off(task):
                return followed
            return _join(followed, self.act(session, task, control, followed))

    def open_session(
        self, task: AgentTask, control: TrialControl
    ) -> AbstractContextManager[BrowserSession]:
        """Start a browser with the start page open; leaving ends all of it."""
        environ, clock = self._services.environ, self._services.clock
        return open_session(task, control, environ=environ, clock=clock)

    def follow_playbook(
        self, session: BrowserSession, task: AgentTask, control: TrialControl
    ) -> AgentOutcome:
        """Do what the task's playbook says; never asks an LLM."""
        playbook, clock = load_playbook(task.playbook or Path()), self._services.clock
        outcome = follow(playbook, task.playbook_params, session, control, clock, task.max_steps)
        return _finish(outcome, session, task)

    def act(
        self,
        session: BrowserSession,
        task: AgentTask,
        control: TrialControl,
        handed_off: AgentOutcome | None,
    ) -> AgentOutcome:
        """Let the task's LLM act, from the state that the session is in.

        Args:
            session: As the playbook left it, or with the start page open.
            task: With an LLM.
            control: Receives the steps.
            handed_off: How the playbook failed; None if none was followed.
        """
        llms, clock = self._services.llms, self._services.clock
        outcome = act_with_llm(llms, clock, session, task, control, handed_off)
        return _finish(outcome, session, task)


def _check(task: AgentTask, *, uses_playbook: bool) -> None:
    if task.execution_mode == "playbook_only" and not uses_playbook:
        raise ConfigError(f"case {task.case_id} is `playbook_only` but does not name a playbook")
    if not uses_playbook and task.llm is None:
        hint = "use --llm, name one in the suite, or add one to llms.json"
        raise ConfigError(f"case {task.case_id} needs an LLM, but none is available", hint=hint)


def _hands_off(task: AgentTask) -> bool:
    is_hybrid = task.execution_mode == "hybrid_auto"
    return is_hybrid and task.may_hand_off and task.llm is not None


def _join(followed: AgentOutcome, acted: AgentOutcome) -> AgentOutcome:
    texts = (followed.extracted_text, acted.extracted_text)
    return replace(
        acted,
        data={**followed.data, **acted.data},
        extracted_text="\n".join(text for text in texts if text),
        actions=followed.actions + acted.actions,
        input_tokens=followed.input_tokens + acted.input_tokens,
        output_tokens=followed.output_tokens + acted.output_tokens,
        mode="handoff",
    )


def _finish(outcome: AgentOutcome, session: BrowserSession, task: AgentTask) -> AgentOutcome:
    """Check the data against the schema, add the facts of the page, and redact everything."""
    fault = find_schema_fault(outcome.data, task.output_schema) if outcome.success else ""
    if fault:
        outcome = replace(
            outcome, success=False, error=f"the data violate the output schema: {fault}"
        )
    clean = session.redactor
    data, errors = _add_facts(outcome.data, session, task)
    return replace(
        outcome,
        summary=clean.text(outcome.summary),
        error=clean.text(outcome.error),
        extracted_text=clean.text(outcome.extracted_text),
        data=clean.value(data),
        read_errors={path: clean.text(error) for path, error in errors.items()},
    )


def _add_facts(
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
        set_path(facts, path, value)
    return facts, errors

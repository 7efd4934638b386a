"""Execution modes of a trial: the playbook, the LLM agent, or one after the other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol, TypeVar

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import AgentOutcome, AgentTask, TrialControl

Session = TypeVar("Session")


class AgentParts(Protocol[Session]):
    """The two parts of an agent; both act on one live session, which lasts for one trial."""

    def open_session(
        self, task: AgentTask, control: TrialControl
    ) -> AbstractContextManager[Session]:
        """Start what the trial acts on, with its start page open; leaving ends all of it."""

    def follow_playbook(
        self, session: Session, task: AgentTask, control: TrialControl
    ) -> AgentOutcome:
        """Do what the task's playbook says; never asks an LLM."""

    def act(
        self,
        session: Session,
        task: AgentTask,
        control: TrialControl,
        handed_off: AgentOutcome | None,
    ) -> AgentOutcome:
        """Let the task's LLM act, from the state that the session is in.

        Args:
            session: As the playbook left it, or with the start page open.
            task: With an LLM.
            control: Steers and watches.
            handed_off: How the playbook failed; None where there was none.
        """


def run_in_mode(parts: AgentParts[Session], task: AgentTask, control: TrialControl) -> AgentOutcome:
    """Run one trial in the execution mode of its task.

    - `playbook_only`: the playbook; never an LLM.
    - `agent_only`: the LLM agent; a playbook is ignored.
    - `hybrid_auto`: the playbook if there is one, else the LLM agent. A playbook that fails hands
      off to the agent, from the state that it reached, unless the task forbids it or there is no
      LLM; then its failure stands.

    Returns:
        The outcome. After a handoff success, summary and error are the agent's, actions and tokens
        those of both, data those of both (the agent's win), texts one after the other.

    Raises:
        ConfigError: If the mode needs a playbook or an LLM that the task does not have.
    """
    uses_playbook = task.playbook is not None and task.execution_mode != "agent_only"
    _check(task, uses_playbook=uses_playbook)
    with parts.open_session(task, control) as session:
        if not uses_playbook:
            return replace(parts.act(session, task, control, None), mode="agent")
        followed = replace(parts.follow_playbook(session, task, control), mode="playbook")
        if followed.success or not _hands_off(task):
            return followed
        return _joined(followed, parts.act(session, task, control, followed))


def _check(task: AgentTask, *, uses_playbook: bool) -> None:
    if task.execution_mode == "playbook_only" and not uses_playbook:
        raise ConfigError(f"case {task.case_id} is `playbook_only` but does not name a playbook")
    if not uses_playbook and task.llm is None:
        hint = "use --llm, name one in the suite, or add one to llms.json"
        raise ConfigError(f"case {task.case_id} needs an LLM, but none is available", hint=hint)


def _hands_off(task: AgentTask) -> bool:
    is_hybrid = task.execution_mode == "hybrid_auto"
    return is_hybrid and task.may_hand_off and task.llm is not None


def _joined(followed: AgentOutcome, acted: AgentOutcome) -> AgentOutcome:
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

"""Let an LLM act in a browser until it is done, has given up, or has used up its budget."""

from __future__ import annotations

import secrets
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import AgentOutcome, AgentTask, TrialControl
from poor_bench.evaluation.browser.llm_agent.asking import Asker
from poor_bench.evaluation.browser.llm_agent.forms import form_for
from poor_bench.evaluation.browser.llm_agent.prompt import Conversation
from poor_bench.evaluation.browser.llm_agent.turns import Ended, Turns
from poor_bench.evaluation.browser.session.errors import OutOfTimeError
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.step_log import StepLog
from poor_bench.llm_manager import LLMManager
from poor_bench.ports import Clock


class LLMAgent:
    """Acts on sessions with the LLM of each task."""

    def __init__(self, llms: LLMManager, clock: Clock) -> None:
        self._llms = llms
        self._clock = clock

    def act(
        self,
        session: BrowserSession,
        task: AgentTask,
        control: TrialControl,
        handed_off: AgentOutcome | None,
    ) -> AgentOutcome:
        """Carry out a task from the state that the session is in.

        Raises:
            ProviderError: If the LLM cannot be asked.
            AgentError: If the browser is gone.
            RunCancelledError: If the run was stopped.
        """
        if task.llm is None:
            raise ConfigError(f"case {task.case_id} needs an LLM, but none is available")
        conversation = _conversation(session, task, handed_off)
        is_local = self._llms.is_local(task.llm)
        form = form_for(task.llm, conversation, task.output_schema, is_local=is_local)
        asker = Asker(self._llms, task.llm, task, session, form)
        turns = Turns(
            session=session,
            asker=asker,
            conversation=conversation,
            log=StepLog(session, control, self._clock, "agent"),
            task=task,
        )
        try:
            ended = turns.take_all()
        except OutOfTimeError:
            ended = Ended(success=False, error="the time limit is reached")
        return _outcome(ended, turns, asker)


def _conversation(
    session: BrowserSession, task: AgentTask, handed_off: AgentOutcome | None
) -> Conversation:
    conversation = Conversation(
        directive=task.directive,
        mark=secrets.token_hex(4),
        credentials=session.credentials.names,
        output_schema=task.output_schema,
        base_system_prompt="" if task.llm is None else task.llm.base_system_prompt,
    )
    if handed_off is not None:
        conversation.history.append(
            f"A script did {handed_off.actions} actions and then failed: {handed_off.error}"
        )
    return conversation


def _outcome(ended: Ended, turns: Turns, asker: Asker) -> AgentOutcome:
    data: dict[str, Any] = {**turns.kept, **ended.data}
    return AgentOutcome(
        success=ended.success,
        summary=ended.summary,
        error=ended.error,
        data=data,
        extracted_text="\n".join(str(value) for value in turns.kept.values()),
        actions=turns.n_actions,
        input_tokens=asker.tokens.input,
        output_tokens=asker.tokens.output,
        mode="agent",
    )

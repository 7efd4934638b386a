"""The turns of an LLM agent: look, decide, act, tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from poor_bench.evaluation.agent import AgentTask
from poor_bench.evaluation.browser.actions.models import Done as DoneAction
from poor_bench.evaluation.browser.actions.models import PageAction
from poor_bench.evaluation.browser.actions.perform import Stage, perform
from poor_bench.evaluation.browser.llm_agent.asking import Asker, Tokens
from poor_bench.evaluation.browser.llm_agent.loops import GIVE_UP_AFTER, WARN_AFTER, LoopWatch
from poor_bench.evaluation.browser.llm_agent.prompt import Conversation
from poor_bench.evaluation.browser.llm_agent.reply import BadReplyError, Reply
from poor_bench.evaluation.browser.observation.observe import Observation, observe
from poor_bench.evaluation.browser.observation.tree import described
from poor_bench.evaluation.browser.output_schema import schema_fault
from poor_bench.evaluation.browser.recording.found_values import found_values
from poor_bench.evaluation.browser.recording.robust_target import robust_target
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.evaluation.browser.step_log import Done, StepLog, acts

_MOST_BAD_REPLIES = 3
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended."""

    success: bool
    summary: str = ""
    error: str = ""
    data: dict[str, Any] = field(default_factory=dict)


class Turns:
    """One run of an LLM over one session."""

    def __init__(
        self,
        *,
        session: BrowserSession,
        asker: Asker,
        conversation: Conversation,
        log: StepLog,
        task: AgentTask,
    ) -> None:
        self.kept: dict[str, Any] = {}
        self.n_actions = 0
        self._session = session
        self._asker = asker
        self._conversation = conversation
        self._log = log
        self._task = task
        self._loops = LoopWatch()
        self._warning = ""
        self._n_bad_replies = 0

    def take_all(self) -> Ended:
        """Take turns until one ends it, or the budget is used up."""
        for n_left in range(self._task.max_steps, 0, -1):
            self._session.check_limits()
            if self._tokens_are_used_up():
                return Ended(success=False, error="the token limit is reached")
            ended = self._take_one(n_left)
            if ended is not None:
                return ended
        return Ended(success=False, error=f"not done after {self._task.max_steps} steps")

    def _tokens_are_used_up(self) -> bool:
        limit, used = self._task.token_limit, self._asker.tokens
        return limit is not None and used.input + used.output >= limit

    def _take_one(self, n_left: int) -> Ended | None:
        self._log.begin()
        seen = observe(self._session)
        before = Tokens(self._asker.tokens.input, self._asker.tokens.output)
        try:
            reply = self._asker.next_action(seen, n_left, self._warning)
        except BadReplyError as error:
            return self._after_bad_reply(str(error), before)
        self._n_bad_replies, self._warning = 0, ""
        if isinstance(reply.action, DoneAction):
            return self._finish(reply, reply.action, before)
        return self._act(reply, reply.action, seen, before)

    def _after_bad_reply(self, error: str, before: Tokens) -> Ended | None:
        self._n_bad_replies += 1
        self._tell({}, "no action", Tokens(before.input, before.output), error=error)
        if self._n_bad_replies == _MOST_BAD_REPLIES:
            return Ended(success=False, error=f"no valid action: {error}")
        return None

    def _finish(self, reply: Reply, action: DoneAction, before: Tokens) -> Ended | None:
        plain = action.model_dump()
        data = {**self.kept, **action.data}
        fault = schema_fault(data, self._task.output_schema) if action.success else ""
        if fault:
            self._warning = f"the data of your `done` violate the schema: {fault}"
            self._tell(plain, "done", before, thought=reply.thought, error=self._warning)
            return None
        if action.success:
            plain["found"] = found_values(self._session, action.data)
        self._tell(plain, "done", before, thought=reply.thought, result=action.summary)
        if action.success:
            return Ended(success=True, summary=action.summary, data=action.data)
        error = f"the agent gave up: {action.summary}"
        return Ended(success=False, summary=action.summary, error=error, data=action.data)

    def _act(
        self, reply: Reply, action: PageAction, seen: Observation, before: Tokens
    ) -> Ended | None:
        plain = action.model_dump(exclude_none=True)
        n_times = self._loops.note(repr(plain), seen.fingerprint)
        if n_times >= GIVE_UP_AFTER:
            return Ended(success=False, error=f"repeated the same action: {_in_words(plain, seen)}")
        if n_times >= WARN_AFTER:
            self._warning = "you have done this before on this page, to no avail; try another way"
        stage = Stage(self._session, seen, self.kept.__setitem__)
        result = error = ""
        try:
            plain |= _target_of(stage, plain)
            result = perform(action, stage)
        except ActionError as failed:
            error = str(failed)
        self.n_actions += acts(action.action)
        self._tell(
            plain, _in_words(plain, seen), before, thought=reply.thought, result=result, error=error
        )
        return None

    def _tell(
        self,
        plain: dict[str, Any],
        text: str,
        before: Tokens,
        *,
        thought: str = "",
        result: str = "",
        error: str = "",
    ) -> None:
        used = self._asker.tokens
        result = self._log.tell(
            Done(
                action=plain,
                text=text,
                thought=thought,
                result=result,
                error=error,
                input_tokens=used.input - before.input,
                output_tokens=used.output - before.output,
            )
        )
        came_of_it = "; ".join(part for part in (error, result) if part)
        self._conversation.history.append(f"- {text}: {came_of_it}"[:_LONGEST_LINE])


def _target_of(stage: Stage, plain: dict[str, Any]) -> dict[str, Any]:
    """Target by which a playbook would find the element, for recording."""
    ref = plain.get("ref")
    if ref is None:
        return {}
    description = described(stage.seen.tree, ref)
    target = robust_target(stage.session, stage.element(ref), description)
    return {} if target is None else {"target": target}


def _in_words(plain: dict[str, Any], seen: Observation) -> str:
    kind = str(plain["action"])
    if "ref" in plain:
        words = f"{kind} {described(seen.tree, plain['ref']) or plain['ref']}"
    else:
        words = f"{kind} {plain.get('url') or plain.get('key') or plain.get('text') or ''}".strip()
    typed = plain.get("text") or plain.get("option") if "ref" in plain else None
    return f"{words}: {typed!r}" if typed else words

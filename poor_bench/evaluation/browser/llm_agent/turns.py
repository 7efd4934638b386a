"""Let an LLM act in a browser until it is done, gives up, or has used up its budget.

In every turn it sees the page, is asked for one action, and the action is carried out and reported.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from poor_bench.errors import ConfigError, ProviderError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, AgentTask, TrialControl
from poor_bench.evaluation.browser.llm_agent.actions import ActionContext, Done, PageAction, perform
from poor_bench.evaluation.browser.llm_agent.brief_form import (
    BriefForm,
)
from poor_bench.evaluation.browser.llm_agent.full_form import (
    AgentPrompt,
    BadReplyError,
    Decision,
    FullForm,
)
from poor_bench.evaluation.browser.observation import PageView, StepLog, acts, described, observe
from poor_bench.evaluation.browser.playbook.targets import found_values, robust_target
from poor_bench.evaluation.browser.session import ActionError, BrowserSession, OutOfTimeError
from poor_bench.evaluation.data import schema_fault
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock

MOST_TREE_CHARACTERS = 16_000
LEAST_TREE_CHARACTERS = 500
_LEAST_TOKENS = 400
_MOST_REPAIRS = 2
_LONGEST_QUOTE = 300


@dataclass
class Tokens:
    """Tokens used so far."""

    input: int = 0
    output: int = 0

    def add(self, completion: Completion) -> None:
        """Count a completion."""
        self.input += completion.usage.prompt_tokens or 0
        self.output += completion.usage.completion_tokens or 0


class Asker:
    """Asks one LLM about one task."""

    def __init__(
        self, llms: LLMManager, llm: LLM, task: AgentTask, session: BrowserSession, form: Form
    ) -> None:
        self.tokens = Tokens()
        self._form = form
        self._llms = llms
        self._llm = llm
        self._session = session
        self._task = task
        self._most_characters = MOST_TREE_CHARACTERS

    def next_action(self, seen: PageView, n_left: int, warning: str) -> Decision:
        """The LLM's decision.

        Raises:
            BadReplyError: If there is none after telling it what was wrong.
            ProviderError: If it cannot be asked.
            OutOfTimeError: If the time limit is reached.
            RunCancelledError: If the run was stopped.
        """
        complaint = warning
        for attempt in range(1 + _MOST_REPAIRS):
            text = self._complete(seen, n_left, complaint).text
            try:
                return self._form.parse(text, seen)
            except BadReplyError as error:
                if attempt == _MOST_REPAIRS:
                    raise
                complaint = f"your last reply was of no use: {error}. It was: {_quoted(text)}"
        raise AssertionError("the last attempt returns or raises")

    def _complete(self, seen: PageView, n_left: int, complaint: str) -> Completion:
        while True:
            messages = self._form.messages(seen, n_left, complaint, self._most_characters)
            try:
                completion = self._ask(messages, self._form.schema(seen))
            except ProviderError as error:
                self._show_less_or_give_up(error)
            else:
                self.tokens.add(completion)
                return completion

    def _ask(self, messages: tuple[Message, ...], schema: dict[str, Any]) -> Completion:
        parameters = {**self._llm.parameters, **_parameters(self._llm, self._task, schema)}
        try:
            return self._llms.complete(self._llm, messages, self._session.must_stop, parameters)
        except RunCancelledError:
            self._session.check_limits()
            raise

    def _show_less_or_give_up(self, error: ProviderError) -> None:
        """Halve what is shown of pages if the context is too small for them."""
        if error.kind is not FailureKind.CONTEXT_OVERFLOW:
            raise error
        self._most_characters //= 2
        if self._most_characters < LEAST_TREE_CHARACTERS:
            raise BadReplyError("the context of the model is too small for a page") from error


def _parameters(llm: LLM, task: AgentTask, schema: dict[str, Any]) -> dict[str, Any]:
    """Request parameters beside the LLM's own.

    The case's `thinking` is passed on as `think` to LLMs that are set to think, and to those that
    say nothing about it; an LLM that is set not to think keeps to that.
    """
    wanted: dict[str, Any] = {
        "response_format": {"type": "json_schema", "schema": schema, "strict": False}
    }
    if llm.think is not False:
        wanted["think"] = False if task.thinking == "off" else task.thinking
    most = llm.parameters.get("max_tokens")
    if isinstance(most, int) and most < _LEAST_TOKENS:
        wanted["max_tokens"] = _LEAST_TOKENS
    return wanted


def _quoted(text: str) -> str:
    return repr(text[:_LONGEST_QUOTE])


WARN_AFTER = 3
GIVE_UP_AFTER = 5


class LoopWatch:
    """Counts how often the same action was chosen on a page that looks the same."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, int]] = Counter()

    def note(self, action: str, page: int) -> int:
        """Note an action on a page, by its fingerprint; return how often it was chosen there."""
        self._seen[action, page] += 1
        return self._seen[action, page]


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
        conversation: AgentPrompt,
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
        if isinstance(reply.action, Done):
            return self._finish(reply, reply.action, before)
        return self._act(reply, reply.action, seen, before)

    def _after_bad_reply(self, error: str, before: Tokens) -> Ended | None:
        self._n_bad_replies += 1
        self._tell({}, "no action", Tokens(before.input, before.output), error=error)
        if self._n_bad_replies == _MOST_BAD_REPLIES:
            return Ended(success=False, error=f"no valid action: {error}")
        return None

    def _finish(self, reply: Decision, action: Done, before: Tokens) -> Ended | None:
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
        self, reply: Decision, action: PageAction, seen: PageView, before: Tokens
    ) -> Ended | None:
        plain = action.model_dump(exclude_none=True)
        n_times = self._loops.note(repr(plain), seen.fingerprint)
        if n_times >= GIVE_UP_AFTER:
            return Ended(success=False, error=f"repeated the same action: {_in_words(plain, seen)}")
        if n_times >= WARN_AFTER:
            self._warning = "you have done this before on this page, to no avail; try another way"
        context = ActionContext(self._session, seen, self.kept.__setitem__)
        result = error = ""
        try:
            plain |= _target_of(context, plain)
            result = perform(action, context)
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
        result = self._log.report(
            plain,
            text,
            thought=thought,
            result=result,
            error=error,
            input_tokens=used.input - before.input,
            output_tokens=used.output - before.output,
        )
        came_of_it = "; ".join(part for part in (error, result) if part)
        self._conversation.history.append(f"- {text}: {came_of_it}"[:_LONGEST_LINE])


def _target_of(context: ActionContext, plain: dict[str, Any]) -> dict[str, Any]:
    """Target by which a playbook would find the element, for recording."""
    ref = plain.get("ref")
    if ref is None:
        return {}
    description = described(context.seen.tree, ref)
    target = robust_target(context.session, context.element(ref), description)
    return {} if target is None else {"target": target}


def _in_words(plain: dict[str, Any], seen: PageView) -> str:
    kind = str(plain["action"])
    if "ref" in plain:
        words = f"{kind} {described(seen.tree, plain['ref']) or plain['ref']}"
    else:
        words = f"{kind} {plain.get('url') or plain.get('key') or plain.get('text') or ''}".strip()
    typed = plain.get("text") or plain.get("option") if "ref" in plain else None
    return f"{words}: {typed!r}" if typed else words


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
) -> AgentPrompt:
    conversation = AgentPrompt(
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


_BRIEF_BELOW = 1.0
"""Billions of parameters."""


class Form(Protocol):
    """One way to ask; pure."""

    def messages(
        self, seen: PageView, n_left: int, complaint: str, most_characters: int
    ) -> tuple[Message, ...]:
        """Messages of one step; see `AgentPrompt.messages`."""

    def schema(self, seen: PageView) -> dict[str, Any]:
        """The JSON Schema of the reply."""

    def parse(self, text: str, seen: PageView) -> Decision:
        """Read the decision of the LLM.

        Raises:
            BadReplyError: If there is no usable decision in it.
        """


def form_for(
    llm: LLM,
    conversation: AgentPrompt,
    output_schema: Mapping[str, Any] | None,
    *,
    is_local: bool,
) -> Form:
    """Form of the prompts: brief for a local LLM that is known to be very small."""
    if is_local and llm.size is not None and llm.size < _BRIEF_BELOW:
        return BriefForm(conversation)
    return FullForm(conversation, output_schema, knows_refs=is_local)

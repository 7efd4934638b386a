"""Let an LLM act in a browser until it is done, gives up, or has used up its budget.

In every turn it sees the page, is asked for one action, and the action is carried out and reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from poor_bench.errors import ConfigError, ProviderError, RunCancelledError
from poor_bench.evaluation.agent import AgentOutcome, AgentTask, Step, TrialControl
from poor_bench.evaluation.browser.actions import ActionContext, Done, PageAction, perform
from poor_bench.evaluation.browser.llm_forms import BadReplyError, Decision, Form, choose_form
from poor_bench.evaluation.browser.observation import (
    PageView,
    StepLog,
    acts,
    describe_element,
    observe,
)
from poor_bench.evaluation.browser.playbook_targets import find_robust_target, locate_values
from poor_bench.evaluation.browser.session import ActionError, BrowserSession, OutOfTimeError
from poor_bench.evaluation.checks import find_schema_fault
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import write_count
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock

MOST_TREE_CHARACTERS = 16_000
LEAST_TREE_CHARACTERS = 500
WARN_AFTER = 3
GIVE_UP_AFTER = 5
_LEAST_TOKENS = 400
_MOST_REPAIRS = 2
_MOST_BAD_REPLIES = 3
_LONGEST_QUOTE = 300
_LONGEST_LINE = 300


def act_with_llm(
    llms: LLMManager,
    clock: Clock,
    session: BrowserSession,
    task: AgentTask,
    control: TrialControl,
    handed_off: AgentOutcome | None,
) -> AgentOutcome:
    """Carry out a task from the state that the session is in.

    Args:
        llms: Asks the LLM of the task.
        clock: Source of time.
        session: A live browser; left as the last action left it.
        task: With an LLM.
        control: Receives the steps.
        handed_off: How the playbook failed; None if none was followed.

    Raises:
        ProviderError: If the LLM cannot be asked.
        AgentError: If the browser is gone.
        RunCancelledError: If the run was stopped.
    """
    if task.llm is None:
        raise ConfigError(f"case {task.case_id} needs an LLM, but none is available")
    form = choose_form(task.llm, task, session.credentials.names, is_local=llms.is_local(task.llm))
    if handed_off is not None:
        n_actions = write_count(handed_off.actions, "action")
        failure = f"{n_actions} and then failed: {handed_off.error}"
        form.history.append(f"A script did {failure}")
    asker = Asker(llms, task.llm, task, session, form)
    turns = Turns(session, asker, form, StepLog(session, control, clock), task)
    try:
        outcome = turns.take_all()
    except OutOfTimeError:
        outcome = _fail("the time limit is reached")
    return replace(
        outcome,
        data={**turns.kept, **outcome.data},
        extracted_text="\n".join(str(value) for value in turns.kept.values()),
        actions=turns.n_actions,
        input_tokens=asker.input_tokens,
        output_tokens=asker.output_tokens,
    )


class Asker:
    """Asks one LLM about one task, and counts its tokens."""

    def __init__(
        self, llms: LLMManager, llm: LLM, task: AgentTask, session: BrowserSession, form: Form
    ) -> None:
        self.input_tokens = 0
        self.output_tokens = 0
        self._form = form
        self._llms = llms
        self._llm = llm
        self._session = session
        self._task = task
        self._most_characters = MOST_TREE_CHARACTERS

    def next_action(self, seen: PageView, n_left: int, warning: str) -> Decision:
        """Ask for a decision, and again with a complaint where the reply is unusable.

        Raises:
            BadReplyError: If the last reply is unusable, too.
            ProviderError: If the LLM cannot be asked.
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
                quoted = repr(text[:_LONGEST_QUOTE])
                complaint = f"your last reply was of no use: {error}. It was: {quoted}"
        raise AssertionError("the last attempt returns or raises")

    def _complete(self, seen: PageView, n_left: int, complaint: str) -> Completion:
        """Ask once; where the context is too small, show half as much of the page."""
        while True:
            messages = self._form.messages(seen, n_left, complaint, self._most_characters)
            try:
                completion = self._ask(messages, self._form.schema(seen))
            except ProviderError as error:
                if error.kind is not FailureKind.CONTEXT_OVERFLOW:
                    raise
                self._most_characters //= 2
                if self._most_characters < LEAST_TREE_CHARACTERS:
                    message = "the context of the model is too small for a page"
                    raise BadReplyError(message) from error
            else:
                self.input_tokens += completion.usage.prompt_tokens or 0
                self.output_tokens += completion.usage.completion_tokens or 0
                return completion

    def _ask(self, messages: tuple[Message, ...], schema: dict[str, Any]) -> Completion:
        parameters = {**self._llm.parameters, **_build_parameters(self._llm, self._task, schema)}
        try:
            return self._llms.complete(self._llm, messages, self._session.must_stop, parameters)
        except RunCancelledError:
            self._session.check_limits()
            raise


def _build_parameters(llm: LLM, task: AgentTask, schema: dict[str, Any]) -> dict[str, Any]:
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


class LoopWatch:
    """Counts how often the same action was chosen on a page that looks the same."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, int]] = Counter()

    def note(self, action: str, page: int) -> int:
        """Note an action on a page, by its fingerprint; return how often it was chosen there."""
        self._seen[action, page] += 1
        return self._seen[action, page]


class Turns:
    """One run of an LLM over one session: look, decide, act, report."""

    def __init__(
        self, session: BrowserSession, asker: Asker, form: Form, log: StepLog, task: AgentTask
    ) -> None:
        self.kept: dict[str, Any] = {}
        self.n_actions = 0
        self._session = session
        self._asker = asker
        self._form = form
        self._log = log
        self._task = task
        self._loops = LoopWatch()
        self._warning = ""
        self._n_bad_replies = 0
        self._reported_tokens = (0, 0)

    def take_all(self) -> AgentOutcome:
        """Take turns until one ends it, or the budget is used up."""
        limit = self._task.token_limit
        for n_left in range(self._task.max_steps, 0, -1):
            self._session.check_limits()
            if limit is not None and self._asker.input_tokens + self._asker.output_tokens >= limit:
                return _fail("the token limit is reached")
            outcome = self._take_one(n_left)
            if outcome is not None:
                return outcome
        return _fail(f"not done after {self._task.max_steps} steps")

    def _take_one(self, n_left: int) -> AgentOutcome | None:
        self._log.begin()
        seen = observe(self._session)
        try:
            decision = self._asker.next_action(seen, n_left, self._warning)
        except BadReplyError as error:
            self._n_bad_replies += 1
            self._report({}, "no action", error=str(error))
            is_last = self._n_bad_replies == _MOST_BAD_REPLIES
            return _fail(f"no valid action: {error}") if is_last else None
        self._n_bad_replies, self._warning = 0, ""
        if isinstance(decision.action, Done):
            return self._finish(decision.action, decision.thought)
        return self._act(decision.action, decision.thought, seen)

    def _finish(self, action: Done, thought: str) -> AgentOutcome | None:
        plain = action.model_dump()
        if not action.success:
            self._report(plain, "done", thought=thought, result=action.summary)
            outcome = _fail(f"the agent gave up: {action.summary}")
            return replace(outcome, summary=action.summary, data=action.data)
        fault = find_schema_fault({**self.kept, **action.data}, self._task.output_schema)
        if fault:
            self._warning = f"the data of your `done` violate the schema: {fault}"
            self._report(plain, "done", thought=thought, error=self._warning)
            return None
        plain["found"] = locate_values(self._session, action.data)
        self._report(plain, "done", thought=thought, result=action.summary)
        return AgentOutcome(success=True, summary=action.summary, data=action.data)

    def _act(self, action: PageAction, thought: str, seen: PageView) -> AgentOutcome | None:
        plain = action.model_dump(exclude_none=True)
        text = _describe(plain, seen)
        n_times = self._loops.note(repr(plain), seen.fingerprint)
        if n_times >= GIVE_UP_AFTER:
            return _fail(f"repeated the same action: {text}")
        if n_times >= WARN_AFTER:
            self._warning = "you have done this before on this page, to no avail; try another way"
        context = ActionContext(self._session, seen, self.kept.__setitem__)
        result = error = ""
        try:
            plain |= _build_target(context, plain)
            result = perform(action, context)
        except ActionError as failed:
            error = str(failed)
        self.n_actions += acts(action.action)
        self._report(plain, text, thought=thought, result=result, error=error)
        return None

    def _report(
        self,
        plain: dict[str, Any],
        text: str,
        *,
        thought: str = "",
        result: str = "",
        error: str = "",
    ) -> None:
        """Report a step with the tokens since the last one, and tell the LLM what came of it."""
        n_input, n_output = self._reported_tokens
        self._reported_tokens = self._asker.input_tokens, self._asker.output_tokens
        result = self._log.report(
            Step(
                number=0,
                part="agent",
                action=plain,
                text=text,
                thought=thought,
                result=result,
                error=error,
                input_tokens=self._asker.input_tokens - n_input,
                output_tokens=self._asker.output_tokens - n_output,
            )
        )
        came_of_it = "; ".join(part for part in (error, result) if part)
        self._form.history.append(f"- {text}: {came_of_it}"[:_LONGEST_LINE])


def _fail(error: str) -> AgentOutcome:
    return AgentOutcome(success=False, error=error)


def _build_target(context: ActionContext, plain: dict[str, Any]) -> dict[str, Any]:
    """Find a target by which a playbook would find the element, for recording."""
    ref = plain.get("ref")
    if ref is None:
        return {}
    description = describe_element(context.seen.tree, ref)
    target = find_robust_target(context.session, context.element(ref), description)
    return {} if target is None else {"target": target}


def _describe(plain: dict[str, Any], seen: PageView) -> str:
    kind = str(plain["action"])
    if "ref" in plain:
        words = f"{kind} {describe_element(seen.tree, plain['ref']) or plain['ref']}"
    else:
        words = f"{kind} {plain.get('url') or plain.get('key') or plain.get('text') or ''}".strip()
    typed = plain.get("text") or plain.get("option") if "ref" in plain else None
    return f"{words}: {typed!r}" if typed else words

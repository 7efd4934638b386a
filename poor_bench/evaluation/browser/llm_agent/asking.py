"""Ask the LLM for its next action, and once more where its reply is of no use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.evaluation.agent import AgentTask
from poor_bench.evaluation.browser.llm_agent.forms import Form
from poor_bench.evaluation.browser.llm_agent.reply import BadReplyError, Reply
from poor_bench.evaluation.browser.observation.observe import Observation
from poor_bench.evaluation.browser.session.session import BrowserSession
from poor_bench.llm_manager import LLMManager
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM

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

    def next_action(self, seen: Observation, n_left: int, warning: str) -> Reply:
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

    def _complete(self, seen: Observation, n_left: int, complaint: str) -> Completion:
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

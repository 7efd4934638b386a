"""Conversation of a user and an agent; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from poor_bench.errors import RecordedError
from poor_bench.extraction.normalise import fold_text
from poor_bench.extraction.thinking import without_thinking
from poor_bench.judge.prompt import JudgedCase, Turn
from poor_bench.models.agent import Agent, AgentCase, SimulatedUser
from poor_bench.models.completion import Completion, Message, cost_usd
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM

_AGENT = "agent"
_EMPHASIS = str.maketrans("", "", "*`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Conversation of one case."""

    case_id: str
    turns: tuple[Turn, ...]
    """From the first message of the user on; an answer without text is a turn, too."""
    expected_behavior: str = ""
    passed: bool | None = None
    """True if all rules hold; None without rules."""
    broken_rules: tuple[str, ...] = ()
    """One sentence per broken rule."""
    prompt_tokens: int | None = None
    """Of all requests to the agent's and the user's LLM together; None where one is not known."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    time_ms: float = 0.0
    """Of all requests together, without loading models."""
    timestamp: str = ""
    """When it ended, ISO 8601, UTC."""
    failure: Failure | None = None
    """Reason for an early stop; such a conversation is not judged."""
    group: str | None = None
    """Of the case; None for one of its own, and in files of older versions."""

    @property
    def hash(self) -> str:
        """16 hexadecimal digits that change with the messages."""
        said = json.dumps([[turn.speaker, turn.text] for turn in self.turns])
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()

    @property
    def n_characters(self) -> int:
        """Number of characters of the agent's messages."""
        return sum(len(text) for text in list_agent_texts(self.turns))

    def as_case(self) -> JudgedCase:
        """Convert to evidence for a judge."""
        return JudgedCase(
            name=self.case_id,
            turns=self.turns,
            expected_behavior=self.expected_behavior,
            passed=self.passed,
        )

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON values; `conversation_from_dict` reads them."""
        plain = asdict(self)
        lists = {name: list(plain[name]) for name in ("turns", "broken_rules")}
        return {**plain, **lists, "hash": self.hash}


def conversation_from_dict(record: Mapping[str, Any]) -> Conversation:
    """Read a conversation written by `Conversation.as_dict`; unknown keys are ignored.

    Raises:
        ValueError: If the record is not one.
    """
    return _build_reader().validate_python(record)


@cache
def _build_reader() -> TypeAdapter[Conversation]:
    return TypeAdapter(Conversation)


def list_agent_texts(turns: tuple[Turn, ...]) -> list[str]:
    """List the agent's messages in order."""
    return [turn.text for turn in turns if turn.speaker == _AGENT]


def broken_rules(case: AgentCase, turns: tuple[Turn, ...]) -> tuple[str, ...]:
    """List the rules of a case that the agent broke.

    Case, white space, typographic quotes and Markdown emphasis make no difference. A text must
    stand within one answer.

    Example:
        >>> case = AgentCase(id="a", turns=("Hi",), contains=("Ticket",), contains_not=("free",))
        >>> broken_rules(case, (Turn("user", "Hi"), Turn("agent", "Your ticket is FREE.")))
        ("'free' is forbidden",)
    """
    said = [_as_compared(text) for text in list_agent_texts(turns)]

    def occurs(text: str) -> bool:
        return any(_as_compared(text) in answer for answer in said)

    return (
        *(f"{text!r} is missing" for text in case.contains if not occurs(text)),
        *(f"{text!r} is forbidden" for text in case.contains_not if occurs(text)),
    )


def apply_rules(case: AgentCase, conversation: Conversation) -> Conversation:
    """Apply the rules of a case to a stored conversation; one that broke off stays as it is."""
    if conversation.failure is not None:
        return conversation
    broken = broken_rules(case, conversation.turns)
    passed = not broken if case.has_checks else None
    return replace(conversation, passed=passed, broken_rules=broken)


def _as_compared(text: str) -> str:
    """Fold case, white space and typography; LLMs put single words in bold or code."""
    return fold_text(text).translate(_EMPHASIS) or fold_text(text)


_TASK = """\
You play a person who writes to an AI agent. Stay in this role:

{persona}

Write only this person's next message: no quotation marks, no name in front, no remarks about it.
Never answer for the agent. When the person has what they came for, or gives up, write {stop} \
behind the last words."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Next message of a simulated user."""

    text: str
    """May be empty where the conversation is over."""
    is_last: bool


def write_user_prompt(user: SimulatedUser, turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    """Build the prompt of a simulated user: the conversation with swapped roles."""
    task = _TASK.format(persona=user.persona, stop=user.stop_phrase)
    said = [Message("assistant" if turn.speaker == "user" else "user", turn.text) for turn in turns]
    return Message("system", task), *said


def read_user_message(reply: str, stop_phrase: str) -> UserMessage:
    """Read the message of a simulated user, and whether it is the last.

    A reply without text ends it, too: there is nothing that the agent could answer.

    Example:
        >>> read_user_message("Thanks, that helps. [DONE]", "[DONE]")
        UserMessage(text='Thanks, that helps.', is_last=True)
    """
    text, stop, _ = without_thinking(reply).partition(stop_phrase)
    return UserMessage(text.strip(), is_last=bool(stop) or not text.strip())


Ask = Callable[[LLM, tuple[Message, ...]], Completion]
"""Sends a request to a model; raises RecordedError on failure."""


@dataclass(frozen=True, slots=True)
class ConversationDriver:
    """Holds conversations with one agent."""

    agent: Agent
    llms: Mapping[str, LLM]
    """LLMs by id: the agent's and those of its simulated users."""
    ask: Ask
    now_iso: Callable[[], str]

    def hold(self, case: AgentCase) -> Conversation:
        """Hold the conversation of a case, until its end or a failure."""
        talk = _Conversing(self, case)
        failure: Failure | None = None
        try:
            talk.go_on()
        except RecordedError as error:
            attempts = getattr(error, "attempts", 1)
            failure = Failure(kind=error.kind, message=str(error), attempts=attempts)
        return talk.conversation(failure)


@dataclass(slots=True)
class _Conversing:
    """A conversation in progress."""

    driver: ConversationDriver
    case: AgentCase
    turns: tuple[Turn, ...] = ()
    completions: list[tuple[LLM, Completion]] = field(default_factory=list)

    def go_on(self) -> None:
        for text in self.case.turns:
            self._say(text)
        user = self.case.simulated_user
        if user is None:
            return
        for _ in range(user.max_turns - len(self.case.turns)):
            reply = self._ask(self.driver.llms[user.llm_id], write_user_prompt(user, self.turns))
            message = read_user_message(reply, user.stop_phrase)
            if message.is_last:
                self.turns += (Turn("user", message.text),) if message.text else ()
                return
            self._say(message.text)

    def conversation(self, failure: Failure | None) -> Conversation:
        rules = broken_rules(self.case, self.turns)
        usages = [completion.usage for _, completion in self.completions]
        return Conversation(
            case_id=self.case.id,
            turns=self.turns,
            expected_behavior=self.case.expected_behavior,
            passed=not rules if self.case.has_checks and failure is None else None,
            broken_rules=rules if failure is None else (),
            prompt_tokens=_sum(usage.prompt_tokens for usage in usages),
            completion_tokens=_sum(usage.completion_tokens for usage in usages),
            cost_usd=_sum(cost_usd(made.usage, llm.prices) for llm, made in self.completions),
            time_ms=round(sum(_time_ms(completion) for _, completion in self.completions), 3),
            timestamp=self.driver.now_iso(),
            failure=failure,
            group=self.case.group,
        )

    def _say(self, text: str) -> None:
        """Send a message to the agent and keep its answer."""
        self.turns += (Turn("user", text),)
        agent = self.driver.agent
        llm = self.driver.llms[agent.llm_id]
        prompt = "\n\n".join(filter(None, (llm.base_system_prompt, agent.system_prompt)))
        said = (
            Message("user" if turn.speaker == "user" else "assistant", turn.text)
            for turn in self.turns
        )
        reply = self._ask(llm, (Message("system", prompt), *said))
        self.turns += (Turn("agent", without_thinking(reply).strip()),)

    def _ask(self, llm: LLM, messages: tuple[Message, ...]) -> str:
        completion = self.driver.ask(llm, messages)
        self.completions.append((llm, completion))
        return completion.text


def _time_ms(completion: Completion) -> float:
    return completion.timing.total_ms - (completion.timing.load_ms or 0.0)


_Figure = TypeVar("_Figure", int, float)


def _sum(values: Iterable[_Figure | None]) -> _Figure | None:
    """Compute the sum; None if a value is unknown."""
    figures = list(values)
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None

"""Hold one conversation with an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from poor_bench.errors import RecordedError
from poor_bench.extraction.thinking import without_thinking
from poor_bench.judge.conversation.conversation import Conversation, broken_rules
from poor_bench.judge.conversation.simulated_user import (
    read_user_message,
    user_messages,
)
from poor_bench.judge.subject import Turn
from poor_bench.models.agent import Agent, AgentCase
from poor_bench.models.completion import Completion, Message
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM
from poor_bench.scoring.cost import cost_usd

Ask = Callable[[LLM, tuple[Message, ...]], Completion]
"""Sends a request to a model; raises RecordedError on failure."""


@dataclass(frozen=True, slots=True)
class Talker:
    """Holds conversations with one agent."""

    agent: Agent
    llms: Mapping[str, LLM]
    """LLMs by id: the agent's and those of its simulated users."""
    ask: Ask
    now_iso: Callable[[], str]

    def hold(self, case: AgentCase) -> Conversation:
        """Hold the conversation of a case, until its end or a failure."""
        talk = _Talk(self, case)
        failure: Failure | None = None
        try:
            talk.go_on()
        except RecordedError as error:
            attempts = getattr(error, "attempts", 1)
            failure = Failure(kind=error.kind, message=str(error), attempts=attempts)
        return talk.conversation(failure)


@dataclass(slots=True)
class _Talk:
    """A conversation in progress."""

    talker: Talker
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
            reply = self._ask(self.talker.llms[user.llm_id], user_messages(user, self.turns))
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
            timestamp=self.talker.now_iso(),
            failure=failure,
        )

    def _say(self, text: str) -> None:
        """Send a message to the agent and keep its answer."""
        self.turns += (Turn("user", text),)
        agent = self.talker.agent
        llm = self.talker.llms[agent.llm_id]
        prompt = "\n\n".join(filter(None, (llm.base_system_prompt, agent.system_prompt)))
        said = (
            Message("user" if turn.speaker == "user" else "assistant", turn.text)
            for turn in self.turns
        )
        reply = self._ask(llm, (Message("system", prompt), *said))
        self.turns += (Turn("agent", without_thinking(reply).strip()),)

    def _ask(self, llm: LLM, messages: tuple[Message, ...]) -> str:
        completion = self.talker.ask(llm, messages)
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

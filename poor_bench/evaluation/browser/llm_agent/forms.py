"""How an LLM is asked, and how its reply is read: in full, or briefly where it is very small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from poor_bench.evaluation.browser.llm_agent.brief import (
    Choice,
    brief_message,
    brief_schema,
    choices_on,
    parse_brief_reply,
)
from poor_bench.evaluation.browser.llm_agent.prompt import Conversation
from poor_bench.evaluation.browser.llm_agent.reply import Reply, parse_reply
from poor_bench.evaluation.browser.llm_agent.schema import reply_schema
from poor_bench.evaluation.browser.observation.observe import Observation
from poor_bench.evaluation.browser.observation.tree import refs_in
from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM

_BRIEF_BELOW = 1.0
"""Billions of parameters."""


class Form(Protocol):
    """One way to ask; pure."""

    def messages(
        self, seen: Observation, n_left: int, complaint: str, most_characters: int
    ) -> tuple[Message, ...]:
        """Messages of one step; see `Conversation.messages`."""

    def schema(self, seen: Observation) -> dict[str, Any]:
        """The JSON Schema of the reply."""

    def parse(self, text: str, seen: Observation) -> Reply:
        """Read the decision of the LLM.

        Raises:
            BadReplyError: If there is no usable decision in it.
        """


@dataclass(frozen=True, slots=True)
class FullForm:
    """Any action with all its arguments, and a thought."""

    conversation: Conversation
    output_schema: Mapping[str, Any] | None
    knows_refs: bool
    """True if replies are restricted to the references of the page. Hosted LLMs do not need it, and
    take seconds over every schema that is new to them."""

    def messages(
        self, seen: Observation, n_left: int, complaint: str, most_characters: int
    ) -> tuple[Message, ...]:
        """See `Form`."""
        return self.conversation.messages(seen, n_left, complaint, most_characters)

    def schema(self, seen: Observation) -> dict[str, Any]:
        """See `Form`."""
        return reply_schema(self.output_schema, refs_in(seen.tree) if self.knows_refs else ())

    def parse(self, text: str, _seen: Observation) -> Reply:
        """See `Form`."""
        return parse_reply(text)


@dataclass(frozen=True, slots=True)
class BriefForm:
    """One of the choices that the page offers."""

    conversation: Conversation

    def messages(
        self, seen: Observation, _n_left: int, _complaint: str, _most_characters: int
    ) -> tuple[Message, ...]:
        """See `Form`."""
        told = self.conversation
        return (brief_message(told.directive, seen, self._choices(seen), told.history),)

    def schema(self, seen: Observation) -> dict[str, Any]:
        """See `Form`."""
        return brief_schema(self._choices(seen))

    def parse(self, text: str, seen: Observation) -> Reply:
        """See `Form`."""
        return parse_brief_reply(text, self._choices(seen))

    def _choices(self, seen: Observation) -> list[Choice]:
        return choices_on(seen, may_be_done=bool(self.conversation.history))


def form_for(
    llm: LLM,
    conversation: Conversation,
    output_schema: Mapping[str, Any] | None,
    *,
    is_local: bool,
) -> Form:
    """Form of the prompts: brief for a local LLM that is known to be very small."""
    if is_local and llm.size is not None and llm.size < _BRIEF_BELOW:
        return BriefForm(conversation)
    return FullForm(conversation, output_schema, knows_refs=is_local)

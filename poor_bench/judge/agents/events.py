"""What a listener hears of an agent's run, in the thread that started it."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.judgement import Judgement


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """An LLM is brought into memory, if it is not there."""

    llm_id: str


@dataclass(frozen=True, slots=True)
class ConversationHeld:
    """A conversation came to its end and is stored."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class JudgementMade:
    """A judge came to a judgement, or to its fallback, and it is stored."""

    judgement: Judgement


AgentEvent = ModelLoading | ConversationHeld | JudgementMade

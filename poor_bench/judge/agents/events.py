"""Events of a judged run, sent in the thread that started it."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.judge.conversation.conversation import Conversation
from poor_bench.judge.judgement import Judgement


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """A model is being loaded, unless it is in memory."""

    llm_id: str


@dataclass(frozen=True, slots=True)
class ConversationHeld:
    """A conversation ended and is stored."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class JudgementMade:
    """A judgement or fallback is stored."""

    judgement: Judgement


AgentEvent = ModelLoading | ConversationHeld | JudgementMade

"""Events of a judged run as text; pure."""

from __future__ import annotations

from poor_bench.judge.agents.events import (
    AgentEvent,
    ConversationHeld,
    JudgementMade,
    ModelLoading,
)
from poor_bench.messages import counted


def event_text(event: AgentEvent) -> str:
    """Format an event as one line."""
    match event:
        case ModelLoading(llm_id=llm_id):
            return f"{llm_id}: loading"
        case ConversationHeld(conversation=talk):
            if talk.failure is not None:
                return f"{talk.case_id}: stopped: {talk.failure.message}"
            return f"{talk.case_id}: {counted(len(talk.turns), 'turn')}"
        case JudgementMade(judgement=judgement):
            if judgement.is_fallback:
                return f"{judgement.judge}: no judgement: {judgement.error}"
            return f"{judgement.judge}: {judgement.overall_score:.2f} of 10"

"""Conversation of a user and an agent; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from poor_bench.extraction.normalise import fold_text
from poor_bench.judge.subject import JudgedCase, Turn
from poor_bench.models.agent import AgentCase
from poor_bench.models.failure import Failure, FailureKind

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

    @property
    def hash(self) -> str:
        """16 hexadecimal digits that change with the messages."""
        said = json.dumps([[turn.speaker, turn.text] for turn in self.turns])
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()

    @property
    def n_characters(self) -> int:
        """Number of characters of the agent's messages."""
        return sum(len(text) for text in agent_texts(self.turns))

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
        plain["turns"] = [{"speaker": turn.speaker, "text": turn.text} for turn in self.turns]
        plain["broken_rules"] = list(self.broken_rules)
        return {**plain, "hash": self.hash}


def conversation_from_dict(record: Mapping[str, Any]) -> Conversation:
    """Read a conversation written by `Conversation.as_dict`.

    Raises:
        ValueError: If it is no such record.
    """
    values = {key: value for key, value in record.items() if key != "hash"}
    try:
        values["turns"] = tuple(Turn(**turn) for turn in values["turns"])
        values["broken_rules"] = tuple(values.get("broken_rules", ()))
        failure = values.get("failure")
        if failure is not None:
            values["failure"] = Failure(**failure | {"kind": FailureKind(failure["kind"])})
        return Conversation(**values)
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a conversation: {error}") from error


def agent_texts(turns: tuple[Turn, ...]) -> list[str]:
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
    said = [_as_compared(text) for text in agent_texts(turns)]

    def occurs(text: str) -> bool:
        return any(_as_compared(text) in answer for answer in said)

    return (
        *(f"{text!r} is missing" for text in case.contains if not occurs(text)),
        *(f"{text!r} is forbidden" for text in case.contains_not if occurs(text)),
    )


def with_rules_of(case: AgentCase, conversation: Conversation) -> Conversation:
    """Apply the rules of a case to a stored conversation; one that broke off stays as it is."""
    if conversation.failure is not None:
        return conversation
    broken = broken_rules(case, conversation.turns)
    passed = not broken if case.has_checks else None
    return replace(conversation, passed=passed, broken_rules=broken)


def _as_compared(text: str) -> str:
    """Fold case, white space and typography; LLMs put single words in bold or code."""
    return fold_text(text).translate(_EMPHASIS) or fold_text(text)

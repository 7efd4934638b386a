"""Evidence for a judge: conversations and expected behaviour; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Turn:
    """One message."""

    speaker: Literal["user", "agent"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """One conversation that is judged."""

    name: str
    turns: tuple[Turn, ...]
    expected_behavior: str = ""
    passed: bool | None = None
    """Result of other checks; hidden from the judge, used if the judge gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Evidence of one request."""

    cases: tuple[JudgedCase, ...]
    description: str = ""
    """Purpose of the agent."""
    system_prompt: str = ""
    """The agent's instructions."""
    skill: str = ""
    """The judged skill; empty for the whole agent."""
    written_by: str = ""
    """Id or `provider:name` of the LLM whose responses these are; never told to the judge, it only
    shows where an LLM judges itself."""

    def texts(self) -> tuple[str, ...]:
        """List all texts shown to the judge as evidence."""
        spoken = [
            text
            for case in self.cases
            for text in (case.name, case.expected_behavior, *(turn.text for turn in case.turns))
        ]
        return (self.description, self.system_prompt, self.skill, *spoken)


def case_of(test_result: Mapping[str, Any]) -> JudgedCase:
    """Convert a test result to a case.

    Args:
        test_result: `test_name`, `input`, `agent_response`, and optionally `expected_behavior`
            and `passed`. Input and response are texts, or lists of texts of several turns.
    """
    passed = test_result.get("passed")
    return JudgedCase(
        name=str(test_result.get("test_name", "")),
        turns=turns_of(test_result.get("input"), test_result.get("agent_response")),
        expected_behavior=_text(test_result.get("expected_behavior")),
        passed=passed if isinstance(passed, bool) else None,
    )


def turns_of(inputs: Any, responses: Any) -> tuple[Turn, ...]:
    """Build a conversation with alternating turns.

    Args:
        inputs: What the user said: a text, or a list of texts.
        responses: What the agent said, likewise; an empty text is a turn too.
    """
    turns = []
    for said, answered in zip_longest(_texts(inputs), _texts(responses)):
        turns += [Turn("user", said)] if said is not None else []
        turns += [Turn("agent", answered)] if answered is not None else []
    return tuple(turns)


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in value] if isinstance(value, list | tuple) else [_text(value)]


def _text(value: Any) -> str:
    return "" if value is None else str(value)

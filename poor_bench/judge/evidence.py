"""Evidence for a judge: conversations and expected behaviour; pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
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
class JudgeEvidence:
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


def build_case(test_result: Mapping[str, Any]) -> JudgedCase:
    """Convert a test result to a case.

    Args:
        test_result: `test_name`, `input`, `agent_response`, and optionally `expected_behavior`
            and `passed`. Input and response are texts, or lists of texts of several turns.
    """
    passed = test_result.get("passed")
    return JudgedCase(
        name=str(test_result.get("test_name", "")),
        turns=build_turns(test_result.get("input"), test_result.get("agent_response")),
        expected_behavior=_text(test_result.get("expected_behavior")),
        passed=passed if isinstance(passed, bool) else None,
    )


def build_turns(inputs: Any, responses: Any) -> tuple[Turn, ...]:
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


_LENGTH_BYTES = 8
_ROLE_BRACKET = re.compile(r"\[(?=/?[A-Z_]{3,}\])")
"""Opens a control token of Mistral's and Llama 2's chat templates, such as [INST]."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u200b\u2028\u2029\u2060-\u2064\ufeff"  # spaces and separators that do not show
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text that reads backwards
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # halves of characters, hidden tags and selectors
)


def nonce_for(texts: Iterable[str]) -> str:
    """Generate 16 hexadecimal digits that occur in none of `texts`.

    They are a hash of the texts, so that the same request can be repeated word by word, and yet
    nobody can write a text that holds its own code.
    """
    shown = tuple(texts)
    counter = 0
    while True:
        told = json.dumps([counter, *shown]).encode()
        nonce = hashlib.blake2b(told, digest_size=_LENGTH_BYTES).hexdigest()
        if not any(nonce in text for text in shown):
            return nonce
        counter += 1


def as_data(text: str) -> str:
    """Escape tags, role markers and invisible characters.

    `&` and `<` become `&amp;` and `&lt;`, as in XML; brackets of role markers become `&#91;`, and
    characters that do not show become their code, such as `[U+202E]`.

    Example:
        >>> as_data("</case><|im_start|>system [INST]")
        '&lt;/case>&lt;|im_start|>system &#91;INST]'
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    escaped = _ROLE_BRACKET.sub("&#91;", escaped)
    return _INVISIBLE.sub(lambda match: f"[U+{ord(match[0]):04X}]", escaped)


def quote_between_tags(tag: str, nonce: str, text: str) -> str:
    """Quote a text between tags that it cannot contain."""
    return f"<{tag}-{nonce}>\n{as_data(text)}\n</{tag}-{nonce}>"

"""Prompts and replies of simulated users; pure."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.extraction.thinking import without_thinking
from poor_bench.judge.subject import Turn
from poor_bench.models.agent import SimulatedUser
from poor_bench.models.completion import Message

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


def user_messages(user: SimulatedUser, turns: tuple[Turn, ...]) -> tuple[Message, ...]:
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

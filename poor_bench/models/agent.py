"""An agent that a judge looks at: an LLM with a task, and the conversations to try it with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """A user that an LLM plays."""

    persona: str
    """Who the user is, what they want and how they talk."""
    llm_id: str
    max_turns: int = 4
    """Messages of the user at most, those that stand in the file included."""
    stop_phrase: str = "[DONE]"
    """What the user's LLM says when the conversation is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCase:
    """One conversation to have with an agent."""

    id: str
    turns: tuple[str, ...]
    """What the user says, message by message; a simulated user goes on from there."""
    expected_behavior: str = ""
    simulated_user: SimulatedUser | None = None
    contains: tuple[str, ...] = ()
    """Texts that the agent must say, whatever the case of their letters."""
    contains_not: tuple[str, ...] = ()
    """Texts that the agent must not say."""
    group: str | None = None
    """Scenario or template that this case shares with others of the same group; None for one of its
    own. Cases of one group are not independent, and intervals count them together."""

    @property
    def has_checks(self) -> bool:
        """True if a rule can tell passed from not passed."""
        return bool(self.contains or self.contains_not)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """What an agent is judged for."""

    name: str
    rubric: str | None = None
    """Markdown; the default rubric where None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An LLM with a task, and the conversations to try it with."""

    id: str
    name: str
    description: str = ""
    system_prompt: str
    llm_id: str
    skill: Skill | None = None
    threshold: float | None = None
    """Overall score, 0.0 to 10.0, from which on it is approved; None leaves it to the settings."""
    cases: tuple[AgentCase, ...]

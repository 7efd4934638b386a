"""One run of an agent before its judges; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from poor_bench.judge.conversation.conversation import Conversation, conversation_from_dict
from poor_bench.judge.judgement import Judgement, judgement_from_dict


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What is known of a run before anybody is asked."""

    run_id: str
    started: str
    """ISO 8601, UTC."""
    agent_id: str
    agent_name: str = ""
    llm_id: str = ""
    """The agent's LLM."""
    system_prompt: str = ""
    """The agent's, without that of its LLM."""
    skill: str = ""
    threshold: float
    """Overall score, 0.0 to 10.0, from which on the agent is approved."""
    rubric_name: str = ""
    rubric_hash: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Dimension to percent, in the rubric's order."""
    n_cases: int = 0
    """How many conversations are wanted."""
    judges: tuple[str, ...] = ()
    """LLM ids."""
    repeat: int = 1
    """How often each judge is asked."""
    decision: str = "mean"
    """How several judges decide together."""
    conversations_of: str = ""
    """The run whose conversations were judged again; empty where they were held anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRun:
    """One run of an agent before its judges, as far as it has come."""

    header: RunHeader
    conversations: tuple[Conversation, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    ended: str = ""
    """ISO 8601, UTC; empty where it is under way, or was broken off."""

    @property
    def run_id(self) -> str:
        """Unique; sorts by time."""
        return self.header.run_id

    @property
    def is_complete(self) -> bool:
        """Whether all conversations were held and all judgements that were wanted are there."""
        wanted = len(self.header.judges) * self.header.repeat
        return (
            bool(self.conversations)
            and len(self.conversations) >= self.header.n_cases
            and all(conversation.failure is None for conversation in self.conversations)
            and len(self.usable_judgements) >= wanted
        )

    @property
    def usable_judgements(self) -> tuple[Judgement, ...]:
        """The judgements without fallbacks."""
        return tuple(item for item in self.judgements if not item.is_fallback)

    @property
    def cost_usd(self) -> float | None:
        """Of conversations and judgements by LLMs with prices; None where there are none."""
        known = [cost for cost in self._costs if cost is not None]
        return sum(known) if known else None

    @property
    def is_cost_whole(self) -> bool:
        """Whether the cost of every conversation and judgement is known."""
        return None not in self._costs

    @property
    def _costs(self) -> list[float | None]:
        costs = [talk.cost_usd for talk in self.conversations]
        return [*costs, *(judgement.cost_usd for judgement in self.judgements)]

    def conversation(self, case_id: str) -> Conversation | None:
        """Return the conversation of a case; None where there is none."""
        return next((item for item in self.conversations if item.case_id == case_id), None)


def header_to_record(header: RunHeader) -> dict[str, Any]:
    """Return what stands in the first line of a run's file."""
    plain = asdict(header)
    return {**plain, "weights": dict(header.weights), "judges": list(header.judges)}


def header_from_record(record: Mapping[str, Any]) -> RunHeader:
    """Return the header that `header_to_record` wrote; unknown keys are ignored.

    Raises:
        ValueError: If it is no such record.
    """
    names = {item.name for item in fields(RunHeader)}
    values = {key: value for key, value in record.items() if key in names}
    try:
        return RunHeader(**values | {"judges": tuple(values.get("judges", ()))})
    except TypeError as error:
        raise ValueError(f"not a header of a judged run: {error}") from error


def with_record(run: JudgeRun, record: Mapping[str, Any]) -> JudgeRun:
    """Return a run with what a further line of its file tells; an unknown line changes nothing.

    Raises:
        ValueError: If the line holds a conversation or judgement that cannot be read.
    """
    match record:
        case {"conversation": conversation}:
            held = (*run.conversations, conversation_from_dict(conversation))
            return replace(run, conversations=held)
        case {"judgement": judgement}:
            return replace(run, judgements=(*run.judgements, judgement_from_dict(judgement)))
        case {"ended": ended}:
            return replace(run, ended=str(ended))
    return run

"""What may stand in agents/*.yaml, for validation and for the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from poor_bench.config.file_models import FileModel, Name

Text = Annotated[str, StringConstraints(min_length=1)]

Rule = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that is searched for; white space alone would be in every answer."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Rules = Annotated[list[Rule], BeforeValidator(_as_list, json_schema_input_type=Rule | list[Rule])]


def _one_of(first: str, second: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [first]}, {"required": [second]}]}


class SimulatedUserEntry(FileModel):
    """A user that an LLM plays."""

    persona: Text = Field(description="Who the user is, what they want and how they talk.")
    llm: Name | None = Field(None, description="LLM id; the agent's own LLM by default.")
    max_turns: Annotated[int, Field(ge=1, le=50)] = Field(
        4, description="Messages of the user at most, the written ones included."
    )
    stop_phrase: Text = Field("[DONE]", description="What ends the conversation.")


class AgentCaseEntry(FileModel):
    """One conversation: an `input`, or `turns` that the user says one after the other."""

    model_config = ConfigDict(json_schema_extra=_one_of("input", "turns"))

    id: Name = Field(description="Unique name within the agent.")
    input: Text | None = Field(None, description="The one message of the user, or the first.")
    turns: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None, description="Several messages of the user, said in turn."
    )
    expected_behavior: str = Field("", description="What a good agent does here.")
    simulated_user: SimulatedUserEntry | None = None
    contains: Rules = Field(default_factory=list, description="Texts that the agent must say.")
    contains_not: Rules = Field(
        default_factory=list, description="Texts that the agent must not say."
    )


class SkillEntry(FileModel):
    """What the agent is judged for."""

    name: Name = Field(description="Such as `Lead qualification`.")
    rubric: Text | None = Field(
        None, description="Markdown, `### 1. NAME (30%)` and a description for each dimension."
    )
    rubric_file: Name | None = Field(
        None, description="File with the rubric, beside the agent's file."
    )


class AgentFile(FileModel):
    """agents/*.yaml: an agent and the conversations to try it with."""

    version: str | float = Field("1.0", description="Version of the file format.")
    id: Name | None = Field(None, description="Unique name; that of the file by default.")
    name: Name | None = Field(None, description="What screens show; the id by default.")
    description: str = Field("", description="What the agent is for, in a sentence.")
    llm: Name = Field(description="LLM id of llms.json.")
    system_prompt: Text = Field(description="What makes an agent of the LLM.")
    skill: SkillEntry | None = None
    threshold: Annotated[float, Field(ge=0, le=10)] | None = Field(
        None,
        description="Overall score from which on the agent is approved; that of config.yaml, "
        "or else 8.0, by default.",
    )
    cases: Annotated[list[AgentCaseEntry], Field(min_length=1)]

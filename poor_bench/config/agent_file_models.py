"""Models of agents/*.yaml, for validation and for the JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from poor_bench.config.file_models import FileModel, Name

Text = Annotated[str, StringConstraints(min_length=1)]

Rule = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text to search for. White space alone would occur in every answer."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Rules = Annotated[list[Rule], BeforeValidator(_as_list, json_schema_input_type=Rule | list[Rule])]


def _one_of(first: str, second: str) -> dict[str, Any]:
    return {"oneOf": [{"required": [first]}, {"required": [second]}]}


class SimulatedUserEntry(FileModel):
    """A user simulated by a model."""

    persona: Text = Field(description="Identity, goal and tone of the user.")
    llm: Name | None = Field(None, description="LLM id; by default that of the agent.")
    max_turns: Annotated[int, Field(ge=1, le=50)] = Field(
        4, description="Largest number of user messages, including `input` and `turns`."
    )
    stop_phrase: Text = Field("[DONE]", description="Text that ends the conversation.")


class AgentCaseEntry(FileModel):
    """One conversation: a single `input`, or several `turns` of the user."""

    model_config = ConfigDict(json_schema_extra=_one_of("input", "turns"))

    id: Name = Field(description="Unique name within the agent.")
    input: Text | None = Field(None, description="First message of the user.")
    turns: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None, description="Messages of the user, in order."
    )
    expected_behavior: str = Field("", description="Behavior expected of the agent.")
    simulated_user: SimulatedUserEntry | None = None
    contains: Rules = Field(
        default_factory=list, description="Texts that the agent's answers must contain."
    )
    contains_not: Rules = Field(
        default_factory=list, description="Texts that the agent's answers must not contain."
    )


class SkillEntry(FileModel):
    """Skill that is judged."""

    name: Name = Field(description="Name of the skill, such as `Lead qualification`.")
    rubric: Text | None = Field(
        None, description="Markdown with `### 1. NAME (30%)` and a description for each dimension."
    )
    rubric_file: Name | None = Field(
        None, description="File with the rubric, in the folder of the agent's file."
    )


class AgentFile(FileModel):
    """agents/*.yaml: an agent and its test conversations."""

    version: str | float = Field("1.0", description="Version of the file format.")
    id: Name | None = Field(None, description="Unique name; the file name by default.")
    name: Name | None = Field(None, description="Name shown on screens; the id by default.")
    description: str = Field("", description="Purpose of the agent in one sentence.")
    llm: Name = Field(description="LLM id of llms.json.")
    system_prompt: Text = Field(description="System prompt that defines the agent.")
    skill: SkillEntry | None = None
    threshold: Annotated[float, Field(ge=0, le=10)] | None = Field(
        None,
        description="Lowest overall score for approval. Default: the value in config.yaml, or 8.0.",
    )
    cases: Annotated[list[AgentCaseEntry], Field(min_length=1)]

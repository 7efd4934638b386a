"""Models of the files of a workspace, for validation and for the JSON Schemas.

`entry_validation` checks unknown keys, since they are warnings or typing errors.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

NAME_PATTERN = r"^\S([^\n\r\t]*\S)?$"
Name = Annotated[str, StringConstraints(min_length=1, pattern=NAME_PATTERN)]
Tags = Annotated[list[Name], Field(default_factory=list, description="Tags to filter by.")]


class FileModel(BaseModel):
    """Base of all models of file contents."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    keeps_other_keys: ClassVar[bool] = False
    """True if unlisted keys have a use, so that they cause no warning."""
    has_free_keys: ClassVar[bool] = False
    """True if unlisted keys are checked elsewhere."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Let editors underline unknown keys that are not comments."""
        schema = handler(core_schema)
        if not cls.keeps_other_keys and not cls.has_free_keys:
            body = handler.resolve_ref_schema(schema)
            body |= {"additionalProperties": False, "patternProperties": {"^[_$]": {}}}
        return schema


class EvaluatorEntry(FileModel):
    """Evaluator of the responses, with its parameters."""

    name: Name = Field(description="Name of an evaluator, such as `math_evaluator`.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the evaluator."
    )


class TestEvaluatorEntry(FileModel):
    """Evaluator of one test; its parameters override those of the class."""

    name: Name | None = Field(
        None, description="Name of an evaluator; by default that of the class."
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="Parameters added to those of the class; these take precedence.",
    )


class PromptTemplateEntry(FileModel):
    """Prompt template for the tests of a class. Other keys are kept, but not used."""

    keeps_other_keys: ClassVar[bool] = True

    default: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Template with a placeholder such as {problem}. Write {{name}} for "
        "a literal {name}."
    )
    overrides: dict[str, Annotated[str, StringConstraints(min_length=1)]] = Field(
        default_factory=dict, description="Templates for single models, by LLM id."
    )


class TestClassEntry(FileModel):
    """A group of tests with one prompt template and one default evaluator."""

    id: Name = Field(description="Unique name, such as `math_problems`.")
    description: str = Field("", description="Description of the class in one sentence.")
    system_prompt: str = Field("", description="Text added after the model's system prompt.")
    work_prompt_template: PromptTemplateEntry
    evaluation_module: EvaluatorEntry | None = None
    response_schema: dict[str, Any] | None = Field(
        None,
        description="JSON Schema of the answers. Only models with the parameter "
        "`response_format: class` use it.",
    )
    tags: Tags


class TestEntry(FileModel):
    """One test: one or more texts, a level and the evaluator's parameters."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["texts"]}]}
    )

    test_id: Name = Field(description="Unique name.")
    class_id: Name = Field(description="The `id` of a test class.")
    level: Annotated[int, Field(ge=1, le=1000)] = Field(description="Difficulty; 1 is easiest.")
    text: str | None = Field(None, description="Text for the placeholder of the template.")
    texts: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="Several texts, inserted as a JSON list; replaces `text`."
    )
    fields: dict[str, Any] = Field(
        default_factory=dict, description="Values of further placeholders, by name."
    )
    evaluation_module: TestEvaluatorEntry | None = None
    reference_response: str | None = Field(
        None, description="Response that must score 1.0; used to check the test."
    )
    group: Name | None = Field(
        None,
        description="Name shared by tests made from one template, passage or original. Confidence "
        "intervals count them as one.",
    )
    reported: str = Field(
        "", description="Why the test may be wrong; `tests lint` and the page Tests show it."
    )
    tags: Tags
    enabled: bool = Field(True, description="false excludes the test from runs and figures.")


class TimeoutsEntry(FileModel):
    """Time limits in seconds, measured from the start of the request."""

    connect_s: Annotated[float, Field(gt=0)] = Field(10.0, description="Time limit for connecting.")
    first_token_s: Annotated[float, Field(gt=0)] = Field(
        300.0, description="Time limit for the first token."
    )
    total_s: Annotated[float, Field(gt=0)] = Field(
        600.0, description="Time limit for the whole reply."
    )


class PricesEntry(FileModel):
    """Prices in US dollars per million tokens."""

    input: Annotated[float, Field(ge=0)] | None = Field(None, description="Price of prompt tokens.")
    output: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Price of generated tokens."
    )
    cached_input: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Price of prompt tokens read from the server's cache."
    )
    cache_write: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Price of prompt tokens written to the server's cache."
    )
    batch: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5, description="Share of these prices that a request in a batch costs (`run --batch`)."
    )


class ParametersEntry(FileModel):
    """Sampling and provider settings. Supported keys depend on the provider."""

    has_free_keys: ClassVar[bool] = True

    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Token limit of a reply."
    )
    seed: int | None = None
    stop: str | list[str] | None = Field(None, description="Texts that stop generation.")
    think: bool | str | Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="Thinking: true or false, an effort (`low`, `medium`, `high`, `max`), or the "
        "largest number of thinking tokens.",
    )
    num_ctx: Annotated[int, Field(ge=1)] | None = Field(None, description="Context size in tokens.")
    keep_alive: str | float | None = Field(
        None, description="Time the model stays in memory, such as `10m`, or in seconds."
    )
    response_format: str | dict[str, Any] | None = Field(
        None,
        description="`json`, a mapping with `type` and `schema`, or `class` for the "
        "`response_schema` of the test class.",
    )
    repeat_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stream: bool | Literal["auto"] | None = Field(
        None,
        description="false requests the reply in one piece, auto if max_tokens is 256 at most.",
    )
    prompt_cache: bool | None = Field(
        None,
        description="true has Anthropic cache the part of the prompt that all tests of a template "
        "share; other providers cache without being asked.",
    )
    extra_body: dict[str, Any] | None = Field(None, description="Fields added to the request body.")


class LLMEntry(FileModel):
    """A model to evaluate."""

    provider: Name = Field(
        description="Provider, such as `ollama`, `openai`, `anthropic` or `embedded`."
    )
    name: Name = Field(description="Name of the model at the provider.")
    id: Name | None = Field(None, description="Unique name; `provider:name` by default.")
    label: str = Field("", description="Name shown on screens; the id by default.")
    endpoint: Name | None = Field(
        None,
        description="Base URL; by default that of the provider. With `worker-local`, each worker "
        "of a cluster asks its own server at the provider's default address.",
    )
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = (
        Field(None, description="Environment variable that holds the API key.")
    )
    base_system_prompt: str = Field("", description="System prompt for every test.")
    size: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Number of parameters, in billions."
    )
    parameters: ParametersEntry = ParametersEntry()
    enabled: bool = Field(True, description="false excludes the model from runs.")
    concurrency: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="Requests sent at once; by default that of the provider."
    )
    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Rate limit of the endpoint."
    )
    timeouts: TimeoutsEntry = TimeoutsEntry()
    prices: PricesEntry = PricesEntry()
    tags: Tags


Text = Annotated[str, StringConstraints(min_length=1)]

Rule = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text to search for. White space alone would occur in every answer."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Rules = Annotated[list[Rule], BeforeValidator(_as_list, json_schema_input_type=Rule | list[Rule])]


def _require_one(first: str, second: str) -> dict[str, Any]:
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

    model_config = ConfigDict(json_schema_extra=_require_one("input", "turns"))

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
    group: Name | None = Field(
        None,
        description="Name shared by cases made from one scenario or template; intervals of "
        "pairwise comparisons count such cases together.",
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

"""What may stand in the files of a workspace, for validation and for the JSON Schemas.

Unknown keys are looked at elsewhere (`unknown_keys`), since they are warnings or typing errors.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

NAME_PATTERN = r"^\S([^\n\r\t]*\S)?$"
Name = Annotated[str, StringConstraints(min_length=1, pattern=NAME_PATTERN)]
Tags = Annotated[list[Name], Field(default_factory=list, description="Words to filter by.")]


class FileModel(BaseModel):
    """Base of everything that stands in a file."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    keeps_other_keys: ClassVar[bool] = False
    """Whether keys that are not listed have a use, so that they are not worth a warning."""
    has_free_keys: ClassVar[bool] = False
    """Whether keys that are not listed are checked elsewhere."""

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
    """Which evaluator scores the responses, and with what parameters."""

    name: Name = Field(description="Name of an evaluator, such as `math_evaluator`.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="What the evaluator wants to know."
    )


class TestEvaluatorEntry(FileModel):
    """The evaluator of one test; its parameters override those of the class."""

    name: Name | None = Field(None, description="Name of an evaluator; the class's by default.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Added to those of the class; these win."
    )


class PromptTemplateEntry(FileModel):
    """The prompt around a test's text. Other keys hold templates that are kept, but not used."""

    keeps_other_keys: ClassVar[bool] = True

    default: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Template with a placeholder such as {problem}; write {{name}} for {name}."
    )
    overrides: dict[str, Annotated[str, StringConstraints(min_length=1)]] = Field(
        default_factory=dict, description="LLM id to the template that this LLM gets instead."
    )


class TestClassEntry(FileModel):
    """A family of tests with one prompt template and one default evaluator."""

    id: Name = Field(description="Unique name, such as `math_problems`.")
    description: str = Field("", description="What the class is about, in a sentence.")
    system_prompt: str = Field("", description="Sent behind the system prompt of the LLM.")
    work_prompt_template: PromptTemplateEntry
    evaluation_module: EvaluatorEntry | None = None
    response_schema: dict[str, Any] | None = Field(
        None,
        description="JSON schema of the answers, for LLMs with the parameter "
        "`response_format: class`; others are asked as usual.",
    )
    tags: Tags


class TestEntry(FileModel):
    """One test: a text or texts, a level and what the evaluator expects."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["texts"]}]}
    )

    test_id: Name = Field(description="Unique name.")
    class_id: Name = Field(description="The `id` of a test class.")
    level: Annotated[int, Field(ge=1, le=1000)] = Field(description="Difficulty; 1 is easiest.")
    text: str | None = Field(None, description="What fills the placeholder of the template.")
    texts: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="Several texts instead of one; rendered as a JSON list."
    )
    fields: dict[str, Any] = Field(
        default_factory=dict, description="Further placeholders by name."
    )
    evaluation_module: TestEvaluatorEntry | None = None
    reference_response: str | None = Field(
        None, description="A response that must score 1.0, for checking the test itself."
    )
    tags: Tags


class TimeoutsEntry(FileModel):
    """How long to wait, in seconds, each from the moment the request is sent."""

    connect_s: Annotated[float, Field(gt=0)] = Field(10.0, description="For a connection.")
    first_token_s: Annotated[float, Field(gt=0)] = Field(300.0, description="For the first text.")
    total_s: Annotated[float, Field(gt=0)] = Field(600.0, description="For the whole reply.")


class PricesEntry(FileModel):
    """US dollars per million tokens."""

    input: Annotated[float, Field(ge=0)] | None = Field(None, description="Tokens of the prompt.")
    output: Annotated[float, Field(ge=0)] | None = Field(None, description="Generated tokens.")
    cached_input: Annotated[float, Field(ge=0)] | None = Field(
        None, description="Tokens of the prompt that the server had cached."
    )


class ParametersEntry(FileModel):
    """Sampling and provider settings; which there are is for the provider to know."""

    has_free_keys: ClassVar[bool] = True

    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(None, description="Limit of a reply.")
    seed: int | None = None
    stop: str | list[str] | None = Field(None, description="Texts that end a reply.")
    think: bool | str | Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="Whether the LLM thinks first, or how hard (`low`, `medium`, `high`, `max`), "
        "or for how many tokens at most.",
    )
    num_ctx: Annotated[int, Field(ge=1)] | None = Field(None, description="Context in tokens.")
    keep_alive: str | float | None = Field(
        None, description="How long the model stays in memory: `10m`, or seconds."
    )
    response_format: str | dict[str, Any] | None = Field(
        None,
        description="`json`, a mapping with `type` and `schema`, or `class`: the "
        "`response_schema` of the test's class.",
    )
    repeat_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stream: bool | None = Field(None, description="false asks for the reply in one piece.")
    extra_body: dict[str, Any] | None = Field(None, description="Merged into the request.")


class LLMEntry(FileModel):
    """An LLM to ask."""

    provider: Name = Field(description="`ollama`, `openai`, `anthropic`, `embedded`, ...")
    name: Name = Field(description="The provider's name of the model.")
    id: Name | None = Field(None, description="Unique name; `provider:name` by default.")
    label: str = Field("", description="What screens show; the id by default.")
    endpoint: Name | None = Field(None, description="Base URL; the provider's own by default.")
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = (
        Field(None, description="Name of the environment variable that holds the key.")
    )
    base_system_prompt: str = Field("", description="System prompt for every test.")
    size: Annotated[float, Field(ge=0)] | None = Field(None, description="Billions of weights.")
    parameters: ParametersEntry = ParametersEntry()
    enabled: bool = Field(True, description="Whether runs ask this LLM.")
    concurrency: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="Requests at once; the provider's default where it is not given."
    )
    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Limit of the endpoint."
    )
    timeouts: TimeoutsEntry = TimeoutsEntry()
    prices: PricesEntry = PricesEntry()
    tags: Tags

"""The suite file, and the results of a run.

```yaml
name: shop
server: examples.shop:create_app
cases:
  - id: search
    directive: Find the cheapest teapot.
    start_url: "{server}/"
    playbook: shop_search
    expect: {summary_contains: teapot, max_actions: 10}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    computed_field,
    model_validator,
)

from poor_bench.config.file_models import FileModel, Name, Tags
from poor_bench.models.completion import sum_known
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM

Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
CaseId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
SERVER = "{server}"
"""Placeholder for the address of the suite's own server in URLs, directives and parameters."""


def _as_list(value: Any) -> Any:
    """One text as a list of one text; nothing as an empty list."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return list(value)
    return [value] if isinstance(value, str) else value


Texts = Annotated[
    list[str],
    BeforeValidator(_as_list),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Expectations(FileModel):
    """Conditions that every trial must meet; omitted ones are not checked."""

    must_succeed: bool = Field(True, description="The agent must report success.")
    summary_contains: Texts = Field(
        default_factory=list,
        description="Texts that must all occur in the summary, ignoring case.",
    )
    error_contains: Texts = Field(
        default_factory=list, description="Texts that must all occur in the error, ignoring case."
    )
    extracted_text_contains: Texts = Field(
        default_factory=list,
        description="Texts that must all occur in the extracted text, ignoring case.",
    )
    required_data_keys: list[Name] = Field(
        default_factory=list,
        description="Dotted paths that must exist in the data; null counts as existing.",
    )
    data_values_contain: dict[str, str] = Field(
        default_factory=dict,
        description="Dotted path to a text that its value must contain, ignoring case.",
    )
    max_duration_ms: Amount | None = None
    max_actions: Count | None = None
    min_actions: Count | None = None
    max_input_tokens: Count | None = None
    max_output_tokens: Count | None = None
    max_estimated_cost_usd: Amount | None = None
    min_trial_pass_rate: Share | None = Field(
        None, description="Share of the trials that must pass; all by default."
    )
    max_p95_duration_ms: Amount | None = Field(None, description="Over the trials of the case.")
    handoff: Literal["allow", "require", "forbid"] = Field(
        "allow", description="Handoff from a failing playbook to the agent."
    )


class EvalCase(FileModel):
    """One task for an agent."""

    id: CaseId = Field(description="Unique in the suite; also names a folder.")
    directive: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Task of the agent, in words."
    )
    profile: Name = Field(
        "default", description="`default` (browser), `package.module:factory`, or an http(s) URL."
    )
    llm: Name | None = Field(None, description="LLM id; the suite's by default.")
    playbook: Name | None = Field(None, description="Name in `playbooks/`, or a path.")
    execution_mode: Literal["hybrid_auto", "playbook_only", "agent_only"] = "hybrid_auto"
    trials: Annotated[int, Field(ge=1, le=1000)] = 1
    benchmark_tags: Tags
    credentials: dict[Name, Name] | None = Field(
        None,
        description="Environment variable to the only origin that may receive its value.",
    )
    allow_private_networks: bool = Field(False, description="Allow loopback and private addresses.")
    start_url: Name | None = Field(None, description="First page; may contain `{server}`.")
    max_steps: Annotated[int, Field(ge=1, le=1000)] = 50
    time_limit_s: Annotated[float, Field(gt=0)] = Field(
        600.0, description="Seconds after which the agent is stopped and has failed."
    )
    token_limit: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Input and output tokens after which the agent is stopped and has failed.",
    )
    read_at_end: dict[Name, Name] = Field(
        default_factory=dict,
        description="Dotted path in the data to a JavaScript expression, evaluated in the page "
        "when the trial ends; it replaces what the agent reports.",
    )
    thinking: Literal["off", "low", "medium", "high", "max"] = "high"
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema of the data.")
    playbook_params: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="Your own notes; not used by poor_bench."
    )
    input_token_cost_per_million_usd: Amount = Field(
        0.0, description="By default the price of the LLM in llms.json."
    )
    output_token_cost_per_million_usd: Amount = Field(
        0.0, description="By default the price of the LLM in llms.json."
    )
    expect: Expectations = Expectations()


class SuiteHead(FileModel):
    """A suite without its cases and LLMs."""

    version: str | float = Field("1.0", description="Version of the file format.")
    name: Name
    description: str = ""
    server: Name | None = Field(
        None, description="`package.module:factory` of a WSGI application, started per trial."
    )
    llm: Name | None = Field(None, description="LLM id; the first of llms.json by default.")


class EvalSuite(SuiteHead):
    """Cases that are run and reported together."""

    llms: Annotated[tuple[LLM, ...], Field(strict=False)] = ()
    """LLMs of this suite alone."""
    cases: Annotated[tuple[EvalCase, ...], Field(strict=False)]
    folder: str = ""
    """Folder of the suite file: paths of playbooks start there."""


class CaseStatus(StrEnum):
    """Verdict on a case."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
    """A failure of poor_bench or of its environment prevented a verdict."""


Mode = Literal["playbook", "agent", "handoff"]
"""Who acted: the playbook alone, the agent alone, or a playbook that handed off to the agent."""


class _ResultModel(BaseModel):
    """Base of all results."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class EvalTrialResult(_ResultModel):
    """One trial of one case, judged or not run."""

    case_id: str
    trial_index: int = 0
    """Position among the trials of the case, from 0."""
    passed: bool = False
    """True if no check failed; false where `failure` is set."""
    success: bool = False
    """True if the agent reported success."""
    mode: Mode | None = None
    summary: str = ""
    error: str = ""
    traceback: str = ""
    """Traceback of an agent that crashed, or the reply of one that answered badly."""
    data: Mapping[str, Any] = Field(default_factory=dict)
    read_errors: Mapping[str, str] = Field(default_factory=dict)
    """Path of `read_at_end` to the error that its JavaScript expression raised."""
    extracted_text: str = ""
    duration_ms: float = 0.0
    """From the start of the agent to its outcome."""
    actions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_cost_usd: float | None = 0.0
    """None if an agent acted and its tokens or their price are unknown."""
    handed_off: bool = False
    failed_checks: tuple[str, ...] = ()
    llm_id: str = ""
    """LLM that was available to the agent; `mode` tells if the agent acted."""
    started: str = ""
    """ISO 8601, UTC."""
    server: str = ""
    """Address of the suite's own server during the trial."""
    artifacts: str = ""
    """Folder of steps and screenshots, relative to the run's folder."""
    failure: Failure | None = None
    """Why the trial could not be run; such a trial is in no rate and no average."""

    @computed_field  # type: ignore[prop-decorator] # mypy does not know decorated properties
    @property
    def trial(self) -> int:
        """Number of the trial, from 1."""
        return self.trial_index + 1

    @model_validator(mode="before")
    @classmethod
    def _read_older_number(cls, values: Any) -> Any:
        """Accept the results of older versions, which number trials from 1 only."""
        if isinstance(values, dict) and "trial" in values and "trial_index" not in values:
            return {**values, "trial_index": values["trial"] - 1}
        return values


class EvalCaseResult(_ResultModel):
    """One case over all its trials.

    `success`, `mode`, `summary`, `error`, `duration_ms`, `actions` and the tokens are those of one
    trial: the first that did not pass, else the first. Averages are over the trials that ran.
    """

    id: str
    benchmark_tags: tuple[str, ...] = ()
    passed: bool
    success: bool
    mode: Mode | None
    summary: str
    error: str
    duration_ms: float
    actions: int
    input_tokens: int
    output_tokens: int
    trials_run: int
    """Trials with a verdict."""
    trial_pass_rate: float | None
    """None where no trial ran."""
    avg_duration_ms: float | None
    p95_duration_ms: float | None
    avg_estimated_cost_usd: float | None
    """None where no trial ran, or a price is unknown."""
    failed_checks: tuple[str, ...]
    trial_results: tuple[EvalTrialResult, ...] = ()
    """In report files only where a case has several trials."""
    status: CaseStatus
    trial_pass_interval: tuple[float, float] | None = None
    """Wilson's 95 % confidence interval of `trial_pass_rate`."""
    failures: tuple[Failure, ...] = ()
    """Why trials could not be run."""

    @property
    def n_tokens(self) -> int | None:
        """Input and output tokens together; None where an agent acted and did not report them."""
        n_tokens = self.input_tokens + self.output_tokens
        return n_tokens if n_tokens or self.mode == "playbook" else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Failed checks, then why trials could not be run, each once."""
        not_run = (f"could not be run: {failure.message}" for failure in self.failures)
        return tuple(dict.fromkeys((*self.failed_checks, *not_run)))

    @property
    def read_errors(self) -> tuple[str, ...]:
        """JavaScript errors of `read_at_end` in all trials, each once."""
        told = (
            f"read_at_end: {path}: {error}"
            for trial in self.trial_results
            for path, error in trial.read_errors.items()
        )
        return tuple(dict.fromkeys(told))


class EvalTagResult(_ResultModel):
    """All cases of a suite that carry one tag."""

    tag: str
    passed: int
    failed: int
    not_run: int
    total: int
    """Cases with a verdict: `passed + failed`."""
    pass_rate: float = 0.0
    """0.0 where no case has a verdict."""
    pass_interval: tuple[float, float] | None = None
    """Wilson's 95 % confidence interval of `pass_rate`; None where no case has a verdict."""


class EvalSuiteResult(_ResultModel):
    """One run of a suite; `scoring.score_suite` defines each rate."""

    name: str
    passed: int
    failed: int
    not_run: int
    total: int
    """Cases with a verdict: `passed + failed`."""
    pass_rate: Annotated[float, BeforeValidator(lambda value: value or 0.0)]
    """0.0 where no case has a verdict."""
    avg_duration_ms: float | None
    p95_duration_ms: float | None
    avg_estimated_cost_usd: float | None
    """None where no trial ran, or a price is unknown."""
    deterministic_hit_rate: float | None
    handoff_rate: float | None
    handoff_rescue_rate: float | None
    case_results: tuple[EvalCaseResult, ...]
    tag_results: tuple[EvalTagResult, ...] = ()
    """One for every tag of the cases, by name."""
    intervals: Mapping[str, tuple[float, float]] = Field(default_factory=dict)
    """Name of a rate to its Wilson 95 % confidence interval; only rates with trials."""
    llms: tuple[str, ...] = ()
    """Ids of the LLMs of trials in which an agent acted; empty where playbooks did it all."""
    run_id: str = ""
    started: str = ""
    """ISO 8601, UTC."""
    folder: str = ""
    """Folder of the run."""
    cancelled: bool = False

    @property
    def trials(self) -> list[EvalTrialResult]:
        """All trials that ended."""
        return [trial for case in self.case_results for trial in case.trial_results]

    @property
    def n_failed(self) -> int:
        """Number of trials that could not be run."""
        return sum(trial.failure is not None for trial in self.trials)

    @property
    def cost_usd(self) -> float | None:
        """Of trials whose cost is known; None if none is."""
        return sum_known(trial.estimated_cost_usd for trial in self.trials)

    @property
    def models(self) -> str:
        """Ids of the LLMs that acted; why there are none, in words; empty where nothing ran."""
        modes = {trial.mode for trial in self.trials if trial.failure is None}
        if self.llms or not modes:
            return ", ".join(self.llms)
        return "none (playbooks only)" if modes == {"playbook"} else "not reported"

"""What stands in a suite file, and what a run of it finds.

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
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from poor_bench.config.file_models import FileModel, Name, Tags
from poor_bench.models.failure import Failure
from poor_bench.models.llm import LLM

Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
CaseId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
SERVER = "{server}"
"""Stands for the address of the suite's own server in URLs, directives and parameters."""


class Expectations(FileModel):
    """What must hold of every trial; what is left out is not checked."""

    must_succeed: bool = Field(True, description="Whether the agent must report success.")
    summary_contains: str | None = Field(None, description="Part of the summary; any case.")
    error_contains: str | None = Field(None, description="Part of the error; any case.")
    extracted_text_contains: str | None = Field(
        None, description="Part of the text that was extracted; any case."
    )
    required_data_keys: list[Name] = Field(
        default_factory=list, description="Dotted paths that the data must have."
    )
    data_values_contain: dict[str, str] = Field(
        default_factory=dict, description="Dotted path to a part of its value; any case."
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
        "allow", description="Whether a failing playbook may, must or must not hand off."
    )


class EvalCase(FileModel):
    """One task for an agent."""

    id: CaseId = Field(description="Unique in the suite; also names a folder.")
    directive: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="What the agent is told to do."
    )
    profile: Name = Field(
        "default", description="`default` (browser), `package.module:factory`, or an http(s) URL."
    )
    llm: Name | None = Field(None, description="LLM id; the suite's by default.")
    playbook: Name | None = Field(None, description="Name in `playbooks/`, or a path.")
    execution_mode: Literal["hybrid_auto", "playbook_only", "agent_only"] = "hybrid_auto"
    trials: Annotated[int, Field(ge=1, le=1000)] = 1
    benchmark_tags: Tags
    credentials: dict[Name, Name] = Field(
        default_factory=dict,
        description="Environment variable to the origin that alone may receive its value.",
    )
    allow_private_networks: bool = Field(
        False, description="Whether loopback and private addresses may be visited."
    )
    start_url: Name | None = Field(None, description="Opened first; `{server}` may stand in it.")
    max_steps: Annotated[int, Field(ge=1, le=1000)] = 50
    time_limit_s: Annotated[float, Field(gt=0)] = Field(
        600.0, description="The agent is stopped, and has failed, after so many seconds."
    )
    token_limit: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The agent is stopped, and has failed, after so many tokens, in and out."
    )
    read_at_end: dict[Name, Name] = Field(
        default_factory=dict,
        description="Dotted path in the data to a JavaScript expression, evaluated in the page "
        "when the trial ends; it takes the place of what the agent says.",
    )
    thinking: Literal["off", "low", "medium", "high", "max"] = "high"
    output_schema: dict[str, Any] | None = Field(None, description="JSON Schema of the data.")
    playbook_params: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict, description="Kept for you, not read.")
    input_token_cost_per_million_usd: Amount = 0.0
    output_token_cost_per_million_usd: Amount = 0.0
    expect: Expectations = Expectations()


class SuiteHead(FileModel):
    """What a suite is beside its cases and LLMs."""

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
    """Where the suite file stands: paths of playbooks start there."""


class CaseStatus(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
    """A failure of ours kept it from a verdict; neither passed nor failed."""


Mode = Literal["playbook", "agent", "handoff"]
"""Who did it: the playbook alone, the agent alone, or a playbook that handed off to the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTrialResult:
    """One trial of one case: scored, or failed to run."""

    case_id: str
    trial: int = 1
    """Counted from 1."""
    passed: bool = False
    """Whether no check failed; false where `failure` is set."""
    success: bool = False
    """What the agent itself reported."""
    mode: Mode | None = None
    summary: str = ""
    error: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    extracted_text: str = ""
    duration_ms: float = 0.0
    """From the start of the agent to its outcome."""
    actions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_cost_usd: float = 0.0
    handed_off: bool = False
    failed_checks: tuple[str, ...] = ()
    llm_id: str = ""
    """The LLM that was there to be asked, whether it was or not."""
    started: str = ""
    """ISO 8601, UTC."""
    server: str = ""
    """Address that the suite's own server had; it is gone after the trial."""
    artifacts: str = ""
    """Folder of steps and screenshots, relative to the run's folder."""
    failure: Failure | None = None
    """Why the trial could not be run; then it is in no rate and no average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCaseResult:
    """One case over all its trials.

    `success`, `mode`, `summary`, `error`, `duration_ms`, `actions` and the tokens are those of one
    trial: the first that did not pass, else the first. Averages are over the trials that ran.
    """

    id: str
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
    """Trials with a verdict; those that could not be run do not count."""
    trial_pass_rate: float | None
    """None where no trial ran."""
    avg_duration_ms: float | None
    p95_duration_ms: float | None
    avg_estimated_cost_usd: float | None
    failed_checks: tuple[str, ...]
    trial_results: tuple[EvalTrialResult, ...] = ()
    """In files only where there are several trials."""
    status: CaseStatus
    trial_pass_interval: tuple[float, float] | None = None
    """Wilson's 95 % interval of `trial_pass_rate`."""
    failures: tuple[Failure, ...] = ()
    """Why trials could not be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSuiteResult:
    """One run of a suite; see `scoring.score_suite` for what each rate means."""

    name: str
    passed: int
    failed: int
    not_run: int
    total: int
    """Cases with a verdict: `passed + failed`."""
    pass_rate: float | None
    """None where no case has a verdict."""
    avg_duration_ms: float | None
    p95_duration_ms: float | None
    avg_estimated_cost_usd: float | None
    deterministic_hit_rate: float | None
    handoff_rate: float | None
    handoff_rescue_rate: float | None
    case_results: tuple[EvalCaseResult, ...]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Name of a rate to Wilson's 95 % interval; rates that are None have none."""
    run_id: str = ""
    started: str = ""
    """ISO 8601, UTC."""
    folder: str = ""
    """Folder of the run."""
    cancelled: bool = False

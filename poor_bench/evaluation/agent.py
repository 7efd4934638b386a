"""Interface of agents: the task an agent under test receives, and the outcome it returns.

An agent is any object with the one method of `AgentUnderTest`. `profile` of a case names it:
`default` is the browser, `package.module:factory` a function of yours that takes `AgentServices`
and returns an agent, and an http(s) URL an endpoint that takes the task and returns the outcome as
JSON.

A failure of the agent is an `AgentOutcome` without success; any exception that the agent raises
counts as one. A failure that is not the agent's (no browser, an LLM that cannot be reached) is not
an outcome: raise one of the errors of `poor_bench.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import Field, Strict, TypeAdapter, ValidationError

from poor_bench.evaluation.models import Mode
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import describe_invalid
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock

Amount = Annotated[int, Field(ge=0)]
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """One trial of one case, with placeholders filled and names resolved."""

    case_id: str
    trial: int
    directive: str
    execution_mode: Literal["hybrid_auto", "playbook_only", "agent_only"] = "hybrid_auto"
    may_hand_off: bool = True
    """False where the case forbids that a failing playbook hands off to the agent."""
    start_url: str | None = None
    max_steps: int = 50
    time_limit_s: float = 600.0
    token_limit: int | None = None
    """Input and output together; None for no limit."""
    read_at_end: Mapping[str, str] = field(default_factory=dict)
    """Dotted path in the data to a JavaScript expression that gives its value at the end."""
    thinking: str = "high"
    """`off`, `low`, `medium`, `high` or `max`."""
    output_schema: Mapping[str, Any] | None = None
    """JSON Schema that the data of a successful outcome must keep."""
    playbook: Path | None = None
    playbook_params: Mapping[str, Any] = field(default_factory=dict)
    """With `server`, the address of the suite's own server, where it has one."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """Name of an environment variable to the only origin that may receive its value."""
    allow_private_networks: bool = False
    llm: LLM | None = None
    """LLM of the case; None where none is available."""
    folder: Path
    """Exists and is empty; screenshots and downloads go here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an agent, for the replay; the runner redacts and stores it."""

    number: int
    """Counted from 1, over playbook and agent together."""
    part: Literal["playbook", "agent"]
    action: Mapping[str, Any] = field(default_factory=dict)
    """As plain data, such as `{"action": "click", "ref": "e12"}`."""
    text: str = ""
    """The action in words, such as `click button "Search"`."""
    url: str = ""
    """Of the page after the action."""
    title: str = ""
    thought: str = ""
    result: str = ""
    """Result of the action."""
    error: str = ""
    screenshot: str = ""
    """Name of an image in the trial's folder, taken after the action."""
    duration_ms: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialControl:
    """Control of a running trial."""

    cancelled: Callable[[], bool] = lambda: False
    """True once the trial must end; poll it often, and raise RunCancelledError when it is true."""
    note_step: Callable[[Step], None] = lambda _step: None
    """Stores a step as soon as it is done, so that it survives the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome:
    """Outcome of one trial, or of one part of it."""

    success: Annotated[bool, Strict()]
    summary: str = ""
    error: str = ""
    """Why the agent failed, in a sentence."""
    traceback: str = ""
    """Traceback of a crash, or the raw reply of an agent that answered badly."""
    data: Mapping[str, Any] = field(default_factory=dict)
    extracted_text: str = ""
    actions: Amount = 0
    """Actions on the page; thinking and `done` do not count."""
    input_tokens: Amount = 0
    output_tokens: Amount = 0
    mode: Mode = "agent"
    read_errors: Mapping[str, str] = field(default_factory=dict)
    """Path of `read_at_end` to the error that its JavaScript expression raised."""


class AgentUnderTest(Protocol):
    """An agent under test; called from several threads at once, once for each trial."""

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task; return when it is done, failed or out of budget.

        Raises:
            RecordedError: If the agent could not run for a reason that is not its own.
            ConfigError: If a setting prevents it from running.
            RunCancelledError: If `control.cancelled()` turned true.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentServices:
    """Services for factories of agents."""

    data_dir: Path
    """Folder of the workspace."""
    llms: LLMManager
    """Asks LLMs, with retries and the limits of their endpoints."""
    environ: Mapping[str, str]
    """Where credentials are looked up."""
    clock: Clock


_OUTCOME = TypeAdapter(AgentOutcome)
_STEP = TypeAdapter(Step)


def read_outcome(values: Mapping[str, Any]) -> AgentOutcome:
    """Read what an agent returned; null stands for a default, and 2.0 for 2.

    Raises:
        ValueError: If it is not an outcome; names the field at fault.
    """
    return _read(_OUTCOME, values)


def read_step(values: Mapping[str, Any]) -> Step:
    """Read a step that an agent reports; null stands for a default, and 2.0 for 2.

    Raises:
        ValueError: If it is not a step; names the field at fault.
    """
    return _read(_STEP, values)


def write_plain_fields(instance: AgentOutcome | Step) -> dict[str, Any]:
    """List the fields of an outcome or a step by name, not copied."""
    return {each.name: getattr(instance, each.name) for each in fields(instance)}


def _read(adapter: TypeAdapter[_Read], values: Mapping[str, Any]) -> _Read:
    given = {name: value for name, value in values.items() if value is not None}
    try:
        return adapter.validate_python(given)
    except ValidationError as error:
        raise ValueError(describe_invalid(error)) from error

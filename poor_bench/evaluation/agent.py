"""The seam of agents: what an agent under test is given, and what it returns.

An agent is any object with the one method of `Agent`. `profile` of a case names it: `default` is
the browser, `package.module:factory` a function of yours that takes `AgentServices` and returns an
`Agent`, and an http(s) URL an endpoint that takes the task and returns the outcome as JSON.

A failure of the agent is an `AgentOutcome` without success. A failure of ours (no browser, an LLM
that cannot be reached) is never an outcome: raise one of the errors of `poor_bench.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from poor_bench.evaluation.models import Mode
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """One trial of one case, ready to be run: placeholders are filled, names are resolved."""

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
    """Whom to ask; None where no LLM is to be had."""
    folder: Path
    """Exists and is empty; screenshots and downloads go here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was done, for the replay; masked and stored by the runner."""

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
    """What came of it."""
    error: str = ""
    screenshot: str = ""
    """Name of an image in the trial's folder, taken after the action."""
    duration_ms: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialControl:
    """How a trial is steered and watched from outside."""

    cancelled: Callable[[], bool] = lambda: False
    """Asked often; an agent raises RunCancelledError when it is true, or is given up soon."""
    note_step: Callable[[Step], None] = lambda _step: None
    """Told each step the moment it is done; stores it so that it survives the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome:
    """What came of one trial, or of one part of it."""

    success: bool
    summary: str = ""
    error: str = ""
    """Why there was no success, in a sentence."""
    data: Mapping[str, Any] = field(default_factory=dict)
    extracted_text: str = ""
    actions: int = 0
    """What was done to the page; thinking and `done` are no actions."""
    input_tokens: int = 0
    output_tokens: int = 0
    mode: Mode = "agent"


class Agent(Protocol):
    """An agent under test; called from several threads at once, once for each trial."""

    def run(self, task: AgentTask, control: TrialControl) -> AgentOutcome:
        """Carry out one task; return when it is done, given up or out of budget.

        Raises:
            RecordedError: If it could not be run for a reason that is not the agent's own.
            ConfigError: If something the user can mend keeps it from running.
            RunCancelledError: If `control.cancelled()` turned true.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentServices:
    """What a factory of agents may use."""

    data_dir: Path
    """Folder of the workspace."""
    llms: LLMManager
    """Asks LLMs, with retries and the limits of their endpoints."""
    environ: Mapping[str, str]
    """Where credentials are looked up."""
    clock: Clock

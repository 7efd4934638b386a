r"""The `scripted` provider: replays given completions and failures, for demos and tests.

In llms.json:

    {"provider": "scripted", "name": "demo", "parameters": {"script": "scripts/demo.yaml"}}
    {"provider": "scripted", "name": "4", "parameters": {"responses": "4", "latency_ms": 20}}

A script stands in the parameters of an LLM, or in a JSON or YAML file that `script` names:

    latency_ms: 20                      # of every reply that has none of its own
    load_ms: 0                          # how long preloading takes
    failures:                           # come first of all, over all prompts
      - {failure: rate_limited, retry_after_s: 1, times: 2}
    responses:                          # the first key that fits the user message wins
      capital of France: Paris          # a part of the message
      /\d+ [+] \d+/:                    # between slashes: a regular expression
        - {failure: server_error}       # a list is played in turn, for each message anew;
        - {text: "4", thinking: "2 and 2", completion_tokens: 5}    # its last entry stays
    default: I do not know.             # where no key fits; without it that is a bad request

`responses` may also be one text or one list, which is then played over all messages together.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from poor_bench.errors import ConfigError, ProviderError, RunCancelledError
from poor_bench.models.completion import ChatRequest, Completion, FinishReason, Timing, Usage
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.catalog import ProviderServices
from poor_bench.safe_files import load_yaml_text, open_regular, require_within

SCRIPT_KEYS = ("responses", "default", "failures", "latency_ms", "load_ms")
ANY_PROMPT = ""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedReply(_Strict):
    """One reply, or one failure, that is played `times` times."""

    text: str = ""
    thinking: str = ""
    finish_reason: FinishReason = FinishReason.STOP
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    thinking_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    prompt_truncated: bool = False
    latency_ms: float | None = Field(default=None, ge=0)
    times: int = Field(default=1, ge=1)
    failure: FailureKind | None = None
    message: str = ""
    status: int | None = None
    retry_after_s: float | None = Field(default=None, ge=0)

    @property
    def usage(self) -> Usage:
        """The tokens that the script states; none are made up."""
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            thinking_tokens=self.thinking_tokens,
            cached_tokens=self.cached_tokens,
        )


def _as_reply(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _as_replies(value: Any) -> Any:
    return (
        [_as_reply(item) for item in value]
        if isinstance(value, list | tuple)
        else [_as_reply(value)]
    )


def _as_rules(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {ANY_PROMPT: value}


Replies = Annotated[tuple[ScriptedReply, ...], BeforeValidator(_as_replies), Field(min_length=1)]


class Script(_Strict):
    """Everything that a scripted LLM says."""

    responses: Annotated[dict[str, Replies], BeforeValidator(_as_rules)] = Field(
        default_factory=dict
    )
    default: Replies | None = None
    failures: Replies | None = None
    latency_ms: float = Field(default=0.0, ge=0)
    load_ms: float = Field(default=0.0, ge=0)

    @field_validator("responses")
    @classmethod
    def _patterns_compile(cls, rules: dict[str, Replies]) -> dict[str, Replies]:
        for pattern in rules:
            try:
                _matches(pattern, "")
            except re.error as error:
                raise ValueError(f"{pattern} is not a regular expression: {error}") from error
        return rules

    def rule_for(self, prompt: str) -> tuple[str, Sequence[ScriptedReply]] | None:
        """Find pattern and replies of the first rule that fits a prompt, or None."""
        for pattern, replies in self.responses.items():
            if _matches(pattern, prompt):
                return pattern, replies
        return None if self.default is None else ("default", self.default)


def parse_script(raw: Mapping[str, Any], where: str) -> Script:
    """Read the script that a mapping describes.

    Raises:
        ConfigError: If the mapping is not a script; the message starts with `where`.
    """
    try:
        return Script.model_validate(dict(raw))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise ConfigError(f"{where}: {faults}") from error


def choose_reply(replies: Sequence[ScriptedReply], turn: int) -> ScriptedReply | None:
    """Choose the reply for the call number `turn` (from 0); None behind the last one."""
    for reply in replies:
        if turn < reply.times:
            return reply
        turn -= reply.times
    return None


def _matches(pattern: str, prompt: str) -> bool:
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return re.search(pattern[1:-1], prompt) is not None
    return pattern in prompt


class ScriptedProvider:
    """Plays the script of one LLM; the same calls in the same order get the same replies."""

    def __init__(self, llm: LLM, services: ProviderServices) -> None:
        self._llm = llm
        self._clock = services.clock
        self._script = load_script(llm, services.workspace)
        self._turns: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest, control: CallControl) -> Completion:
        """Play what the script holds for the last user message."""
        started = self._clock.monotonic()
        reply = self._take_next_reply(_read_prompt(request))
        latency_ms = self._script.latency_ms if reply.latency_ms is None else reply.latency_ms
        self._wait(latency_ms / 1000, control)
        if reply.failure is not None:
            raise ProviderError(
                reply.message or f"scripted failure: {reply.failure.value}",
                kind=reply.failure,
                status=reply.status,
                retry_after_s=reply.retry_after_s,
            )
        return Completion(
            text=reply.text,
            thinking=reply.thinking,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            timing=Timing(total_ms=(self._clock.monotonic() - started) * 1000),
            prompt_truncated=reply.prompt_truncated,
        )

    def preload(self, control: CallControl) -> float | None:
        """Take as long as the script says; return that in milliseconds."""
        if self._script.load_ms:
            control.loading()
        self._wait(self._script.load_ms / 1000, control)
        return self._script.load_ms

    def unload(self) -> None:
        """Nothing is in memory."""

    def check(self) -> Reachability:
        """A script can always be asked."""
        return Reachability(reachable=True, model_present=True, models=(self._llm.name,))

    def close(self) -> None:
        """Nothing is open."""

    def _take_next_reply(self, prompt: str) -> ScriptedReply:
        with self._lock:
            early = choose_reply(self._script.failures or (), self._turn("failures", ""))
        if early is not None:
            return early
        rule = self._script.rule_for(prompt)
        if rule is None:
            raise ProviderError(
                f"the script of {self._llm.id} has no response for this prompt",
                kind=FailureKind.BAD_REQUEST,
                hint="add a response that fits it, or `default`",
            )
        pattern, replies = rule
        with self._lock:
            turn = self._turn("responses", "" if pattern == ANY_PROMPT else prompt)
        return choose_reply(replies, turn) or replies[-1]

    def _turn(self, list_name: str, prompt: str) -> int:
        key = list_name, prompt
        self._turns[key] += 1
        return self._turns[key] - 1

    def _wait(self, seconds: float, control: CallControl) -> None:
        allowed = control.timeouts.total_s
        self._clock.wait(min(seconds, allowed), control.cancelled)
        if control.cancelled():
            raise RunCancelledError("the run was stopped")
        if seconds > allowed:
            raise ProviderError(
                f"{self._llm.id}: no reply within {allowed:g} s", kind=FailureKind.TIMEOUT
            )


def load_script(llm: LLM, workspace: Path) -> Script:
    """Load the script of an LLM from its parameters and the file that they name.

    Raises:
        ConfigError: If the script does not exist, or it cannot be read.
    """
    parameters = llm.parameters
    raw: dict[str, Any] = {}
    where = llm.id
    if "script" in parameters:
        written = str(parameters["script"])
        where = f"{llm.id}: script {workspace / written}"
        raw.update(_read(workspace, written, where))
    raw.update({key: parameters[key] for key in SCRIPT_KEYS if key in parameters})
    if not raw:
        raise ConfigError(
            f"{llm.id}: a scripted LLM needs the parameter 'responses' or 'script'",
            hint='such as {"responses": ["first", "second"]}',
        )
    return parse_script(raw, where)


def _read(workspace: Path, written: str, where: str) -> Mapping[str, Any]:
    import yaml

    try:
        with open_regular(require_within(workspace, written)) as stream:
            content = load_yaml_text(stream.read().decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: not a JSON or YAML file: {error}") from error
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where}: expected a mapping such as {{responses: ...}}")
    return content


def _read_prompt(request: ChatRequest) -> str:
    users = [message.content for message in request.messages if message.role == "user"]
    return users[-1] if users else ""

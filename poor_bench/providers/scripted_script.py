r"""The form of a script for the `scripted` provider, and which reply is next; pure.

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
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from poor_bench.errors import ConfigError
from poor_bench.models.completion import FinishReason, Usage
from poor_bench.models.failure import FailureKind

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
        """Return pattern and replies of the first rule that fits a prompt, or None."""
        for pattern, replies in self.responses.items():
            if _matches(pattern, prompt):
                return pattern, replies
        return None if self.default is None else ("default", self.default)


def parse_script(raw: Mapping[str, Any], where: str) -> Script:
    """Return the script that a mapping describes.

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


def reply_in_turn(replies: Sequence[ScriptedReply], turn: int) -> ScriptedReply | None:
    """Return the reply for the call number `turn` (from 0), or None behind the last one."""
    for reply in replies:
        if turn < reply.times:
            return reply
        turn -= reply.times
    return None


def _matches(pattern: str, prompt: str) -> bool:
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return re.search(pattern[1:-1], prompt) is not None
    return pattern in prompt

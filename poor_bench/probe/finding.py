"""What a probe asks, hears and concludes: calls, replies and findings; pure."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from poor_bench.extraction.thinking import split_thinking
from poor_bench.models.completion import Completion, FinishReason, Message
from poor_bench.models.failure import Failure


class Setting(StrEnum):
    """A setting that a server may drop silently."""

    SEED = "seed"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    NUM_CTX = "num_ctx"
    STOP = "stop"
    RESPONSE_SCHEMA = "response_schema"
    EFFORT = "effort"
    SYSTEM_PROMPT = "system_prompt"

    @property
    def words(self) -> str:
        """Name on screens.

        Example:
            >>> Setting.SYSTEM_PROMPT.words
            'system prompt'
        """
        return self.value if self in _AS_WRITTEN else self.value.replace("_", " ")

    @property
    def parameter(self) -> str:
        """Name among the parameters of a model; empty for the system prompt."""
        return _PARAMETERS.get(self, self.value)


_AS_WRITTEN = frozenset({Setting.MAX_TOKENS, Setting.NUM_CTX})
_PARAMETERS = {
    Setting.RESPONSE_SCHEMA: "response_format",
    Setting.EFFORT: "think",
    Setting.SYSTEM_PROMPT: "",
}


class ProbeVerdict(StrEnum):
    """What a probe concludes about a setting."""

    HONOURED = "honoured"
    IGNORED = "ignored"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinding:
    """Conclusion about one setting."""

    setting: Setting
    verdict: ProbeVerdict
    reason: str
    """One sentence."""
    evidence: str = ""
    """What was seen, in a few words; empty where nothing was asked."""
    note: str = ""
    """Remark for results of this model, such as `seed ignored`; empty where results are safe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCall:
    """One request of a probe."""

    setting: Setting
    """What it is mainly for."""
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]
    """All parameters of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReply:
    """Reply to one request of a probe: a completion, or why there is none."""

    completion: Completion | None = None
    failure: Failure | None = None

    @property
    def answer(self) -> str:
        """Text without thinking."""
        return split_thinking(self.completion.text).answer if self.completion else ""

    @property
    def thinking(self) -> str:
        """All visible thinking."""
        if self.completion is None:
            return ""
        inside = split_thinking(self.completion.text).thinking
        return f"{self.completion.thinking} {inside}".strip()

    @property
    def words(self) -> tuple[str, ...]:
        """Thinking and answer in words; a word that the token limit may have cut is dropped."""
        if self.completion is None:
            return ()
        words = f"{self.completion.thinking} {self.completion.text}".split()
        if self.is_cut_off:
            return tuple(words[:-1])
        return (*words, _END) if words else ()

    @property
    def is_cut_off(self) -> bool:
        """True if the token limit ended the reply."""
        return self.completion is not None and (
            self.completion.finish_reason is FinishReason.LENGTH
        )

    @property
    def completion_tokens(self) -> int | None:
        """Generated tokens that the server counts; None where it does not."""
        return (self.completion.usage.completion_tokens or None) if self.completion else None

    @property
    def prompt_tokens(self) -> int | None:
        """Prompt tokens that the server counts; None where it does not."""
        return (self.completion.usage.prompt_tokens or None) if self.completion else None

    @property
    def thought(self) -> int:
        """Length of the thinking in tokens, or in words where tokens are not counted."""
        if self.completion is None:
            return 0
        return self.completion.usage.thinking_tokens or len(self.thinking.split())

    def omits(self, setting: Setting) -> bool:
        """True if the provider omitted the setting since the server refuses it."""
        for note in self.completion.notes if self.completion else ():
            found = _OMITTED.search(note)
            if found and found[1] in _WIRE_NAMES.get(setting, ()):
                return True
            if setting is Setting.EFFORT and _NO_EFFORT.search(note):
                return True
        return False


_END = "\x03"
"""Last word of a reply that ended by itself: the control character for the end of text."""
_OMITTED = re.compile(r"does not accept ([^\s;]+); it was omitted")
_NO_EFFORT = re.compile(r"does not support (thinking|levels of thinking)")
_WIRE_NAMES: Mapping[Setting, frozenset[str]] = {
    Setting.SEED: frozenset({"seed"}),
    Setting.TEMPERATURE: frozenset({"temperature"}),
    Setting.MAX_TOKENS: frozenset({"max_tokens", "max_completion_tokens"}),
    Setting.STOP: frozenset({"stop"}),
    Setting.RESPONSE_SCHEMA: frozenset({"response_format", "output_config.format"}),
    Setting.EFFORT: frozenset({"reasoning_effort", "reasoning", "chat_template_kwargs"}),
}

Part = Generator[ProbeCall, ProbeReply, list[ProbeFinding]]
"""Part of a probe: yields calls, is sent their replies, returns findings."""


@dataclass(kw_only=True)
class ProbeSubject:
    """The model that is probed, and what is known of it so far."""

    own: Mapping[str, Any]
    """Its own parameters."""
    unsent: frozenset[Setting] = frozenset()
    """Settings that its provider's API does not have."""
    nonce: str = "TOPAZ"
    """A code word that differs from probe to probe, so that no cache holds the prompts."""
    thinks: bool | None = None
    """True once thinking was seen; None before the first reply."""
    _base: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Keep the parameters that a probe leaves as they are."""
        self._base = {key: value for key, value in self.own.items() if key not in _REPLACED}
        if self.own.get("think") is not None:
            self._base["think"] = False

    def note_reply(self, reply: ProbeReply) -> None:
        """Note whether the model thinks, which needs room and is switched off where possible."""
        if reply.completion is not None:
            self.thinks = bool(self.thinks or reply.thought)
        if self.thinks and Setting.EFFORT not in self.unsent:
            self._base["think"] = False

    def parameters(self, **changes: Any) -> dict[str, Any]:
        """Build the parameters of a call."""
        return {**self._base, **changes}

    def room(self, n_tokens: int) -> int:
        """Add room for thinking to a limit of tokens, where the model may think."""
        return n_tokens + (2000 if self.thinks else 500 if self.thinks is None else 0)


_REPLACED = frozenset(
    {
        "temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_penalty",
        "presence_penalty", "frequency_penalty", "mirostat", "mirostat_tau", "mirostat_eta",
        "seed", "stop", "max_tokens", "num_predict", "response_format", "think",
    }
)  # fmt: skip
"""Parameters that a probe sets itself, or that would hide what it looks for."""


def say_unknown(setting: Setting, reason: str, evidence: str = "") -> ProbeFinding:
    """Conclude nothing."""
    return ProbeFinding(
        setting=setting, verdict=ProbeVerdict.NOT_KNOWN, reason=reason, evidence=evidence
    )


def say_honoured(setting: Setting, reason: str, evidence: str = "") -> ProbeFinding:
    """Conclude that the server obeys."""
    return ProbeFinding(
        setting=setting, verdict=ProbeVerdict.HONOURED, reason=reason, evidence=evidence
    )


def say_ignored(setting: Setting, reason: str, evidence: str = "", note: str = "") -> ProbeFinding:
    """Conclude that the server does not obey; results carry a note."""
    return ProbeFinding(
        setting=setting,
        verdict=ProbeVerdict.IGNORED,
        reason=reason,
        evidence=evidence,
        note=note or f"{setting.words} ignored",
    )


def say_refused(setting: Setting) -> ProbeFinding:
    """Conclude that the server refuses a setting, so that it is omitted."""
    return say_ignored(
        setting, f"The server refuses {setting.words}; requests are sent without it."
    )

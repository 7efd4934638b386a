"""In what servers that speak OpenAI's chat completions differ; pure.

| | thinking | top_k, min_p | repeat_penalty |
|---|---|---|---|
| openai, groq, deepseek | reasoning_effort | ignored | ignored |
| mistral | ignored | ignored | ignored |
| openrouter | reasoning | sent | repetition_penalty |
| vllm | chat_template_kwargs | sent | repetition_penalty |
| llamacpp | chat_template_kwargs | sent | repeat_penalty |
| any other | reasoning_effort | sent | repeat_penalty |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def _by_effort(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"reasoning_effort": think}
    return {"reasoning_effort": "medium" if think else "none"}


def _by_reasoning(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"reasoning": {"effort": "xhigh" if think == "max" else think}}
    return {"reasoning": {"enabled": think}}


def _by_template(think: bool | str) -> dict[str, Any]:
    if isinstance(think, str):
        return {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": think}}
    return {"chat_template_kwargs": {"enable_thinking": think}}


_EVERYWHERE: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_LOCAL: Mapping[str, str] = {
    **_EVERYWHERE,
    "top_k": "top_k",
    "min_p": "min_p",
    "repeat_penalty": "repeat_penalty",
}
_REPETITION: Mapping[str, str] = {**_LOCAL, "repeat_penalty": "repetition_penalty"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of server wants to be asked."""

    names: Mapping[str, str]
    """Our names of plain parameters to the server's."""
    thinking: Callable[[bool | str], dict[str, Any]] | None
    """From `think` to what is added to the body; None where thinking cannot be asked for."""
    takes_any_model_name: bool = False
    """Whether the server has one model and answers to every name."""


_HOSTED = Dialect(_EVERYWHERE, _by_effort)
_DIALECTS: Mapping[str, Dialect] = {
    "openai": _HOSTED,
    "groq": _HOSTED,
    "deepseek": _HOSTED,
    "mistral": Dialect(_EVERYWHERE, None),
    "openrouter": Dialect(_REPETITION, _by_reasoning),
    "vllm": Dialect(_REPETITION, _by_template),
    "llamacpp": Dialect(_LOCAL, _by_template, takes_any_model_name=True),
}


def dialect_of(provider: str) -> Dialect:
    """Return the dialect of a provider; unknown ones get what most local servers take."""
    return _DIALECTS.get(provider.lower(), Dialect(_LOCAL, _by_effort))

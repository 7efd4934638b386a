"""Make providers and ask them, with little to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest, Completion, Message
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl, Clock, Provider
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.registry import create_provider
from tests.providers.fake_clock import FakeClock

CONTROL = CallControl(timeouts=Timeouts())
MODELS = {"ollama": "qwen3:1.7b", "anthropic": "claude-test"}
KEYS = {"OPENAI_API_KEY": "sk-test-0123456789", "ANTHROPIC_API_KEY": "sk-ant-0123456789"}

OPEN: list[Provider] = []
"""What was made and has to be closed at the end of the test."""


def make_llm(provider: str, endpoint: str | None = None, **settings: Any) -> LLM:
    name = settings.pop("name", MODELS.get(provider, "gpt-test"))
    return LLM(id=f"{provider}:{name}", provider=provider, name=name, endpoint=endpoint, **settings)


def make_provider(
    provider: str,
    endpoint: str | None,
    *,
    environ: Mapping[str, str] = KEYS,
    clock: Clock | None = None,
    **settings: Any,
) -> Provider:
    services = ProviderServices(clock=clock or FakeClock(), environ=environ)
    made = create_provider(make_llm(provider, endpoint, **settings), services)
    OPEN.append(made)
    return made


def make_request(prompt: str = "2+2?", system: str = "", **parameters: Any) -> ChatRequest:
    messages = (Message("system", system),) if system else ()
    return ChatRequest(messages=(*messages, Message("user", prompt)), parameters=parameters)


def ask(provider: Provider, control: CallControl = CONTROL, **parameters: Any) -> Completion:
    return provider.complete(make_request(**parameters), control)


def failure_of(
    provider: Provider, control: CallControl = CONTROL, **parameters: Any
) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(provider, control, **parameters)
    return caught.value

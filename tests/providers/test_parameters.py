from __future__ import annotations

from typing import Any

import pytest

from poor_bench.config.file_models import ParametersEntry
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.providers import parameters
from poor_bench.providers.anthropic_wire import AnthropicWire
from poor_bench.providers.catalog import WireFormat, list_provider_names
from poor_bench.providers.ollama_wire import OllamaWire
from poor_bench.providers.openai_wire import OpenAIWire, find_dialect
from poor_bench.providers.parameters import COMMON, list_ignored_parameters, list_unknown_parameters


def test_misspelt_parameters_are_reported_and_comments_are_not() -> None:
    given = {"temprature": 0, "temperature": 0, "_why": "deterministic", "maxtokens": 1}
    assert list_unknown_parameters("ollama", given) == ["temprature", "maxtokens"]


@pytest.mark.parametrize("provider", [*list_provider_names(), "my-gateway"])
def test_what_is_common_is_known_everywhere(provider: str) -> None:
    assert list_unknown_parameters(provider, dict.fromkeys(COMMON)) == []


def test_a_wire_format_without_an_entry_takes_what_is_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(parameters._TAKEN, WireFormat.ANTHROPIC)
    assert list_unknown_parameters("anthropic", dict.fromkeys(COMMON)) == []
    assert list_ignored_parameters("anthropic", dict.fromkeys(COMMON)) == []


def test_every_parameter_that_the_file_format_names_is_known() -> None:
    assert {*ParametersEntry.model_fields} == {*COMMON}


def test_options_of_ollama_are_known_there_only() -> None:
    assert list_unknown_parameters("ollama", {"num_gpu": 0}) == []
    assert list_unknown_parameters("openai", {"num_gpu": 0}) == ["num_gpu"]


def test_what_has_no_effect_is_said() -> None:
    given = {"temperature": 0, "seed": 1, "num_ctx": 512, "top_k": 1, "think": True}
    assert list_ignored_parameters("anthropic", given) == ["seed", "num_ctx"]
    assert list_ignored_parameters("openai", given) == ["num_ctx", "top_k"]
    assert list_ignored_parameters("mistral", given) == ["num_ctx", "top_k", "think"]
    assert list_ignored_parameters("openrouter", given) == ["num_ctx"]
    assert list_ignored_parameters("my-gateway", given) == ["num_ctx"]
    assert list_ignored_parameters("ollama", given) == []


@pytest.mark.parametrize(
    ("parameters", "is_stream"),
    [
        ({}, True),
        ({"stream": False, "max_tokens": 9999}, False),
        ({"stream": "auto"}, True),
        ({"stream": "auto", "max_tokens": 257}, True),
        ({"stream": "auto", "max_tokens": 256}, False),
    ],
)
def test_short_replies_come_in_one_piece_where_streams_are_automatic(
    parameters: dict[str, Any], *, is_stream: bool
) -> None:
    request = ChatRequest(messages=(Message("user", "hello"),), parameters=parameters)
    wires = (AnthropicWire("m"), OllamaWire("m"), OpenAIWire("m", find_dialect("openai")))
    for wire in wires:
        assert wire.body(request, frozenset()).get("stream", False) is is_stream

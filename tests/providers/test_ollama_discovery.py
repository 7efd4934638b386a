from __future__ import annotations

from typing import Any

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.catalog import ProviderServices
from poor_bench.providers.ollama import can_chat, describe_installed, discover, read_billions
from tests.providers.fake_clock import FakeClock
from tests.providers.servers import ollama_format as wire
from tests.providers.servers.fake_server import serving

SERVICES = ProviderServices(clock=FakeClock(), environ={})


def test_installed_models_become_entries() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        assert discover(server.url, SERVICES) == [
            {
                "provider": "ollama",
                "name": "qwen3:1.7b",
                "endpoint": server.url,
                "size": 2.0,
                "_quantization": "Q4_K_M",
                "_digest": wire.DIGEST,
            }
        ]


def test_a_model_that_runs_elsewhere_says_where() -> None:
    model = {"model": "gpt-oss:120b-cloud", "remote_host": "https://ollama.com:443"}
    assert describe_installed(model, "")["_remote"] == "https://ollama.com:443"


def test_the_default_endpoint_is_not_written_down() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        services = ProviderServices(clock=FakeClock(), environ={"OLLAMA_HOST": server.host})
        assert "endpoint" not in discover("", services)[0]


def test_nobody_there_is_a_connection_failure() -> None:
    with serving(wire.ollama(wire.reply())) as server:
        url = server.url
    with pytest.raises(ProviderError) as caught:
        discover(url, SERVICES)
    assert caught.value.kind is FailureKind.CONNECTION


@pytest.mark.parametrize(
    ("text", "size"),
    [("135M", 0.135), ("134.52M", 0.1345), ("7.6B", 7.6), ("8x7B", 56), ("1T", 1000), ("", None)],
)
def test_sizes_are_read(text: str, size: float | None) -> None:
    assert read_billions(text) == size


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"capabilities": ["embedding"]}, False),
        ({"capabilities": ["completion", "thinking"]}, True),
        ({"details": {"family": "nomic-bert"}}, False),
        ({"details": {"family": "llama"}}, True),
        ({}, True),
    ],
)
def test_models_that_only_embed_are_left_out(model: dict[str, Any], expected: bool) -> None:
    assert can_chat(model) is expected

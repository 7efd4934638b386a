from __future__ import annotations

import pytest

from poor_bench.errors import ConfigError
from poor_bench.providers.endpoint import (
    build_endpoint_key,
    is_local,
    is_local_host,
    is_loopback,
    is_worker_local,
    make_ollama_url,
    resolve_endpoint,
)
from tests.providers.asking import make_llm


@pytest.mark.parametrize(
    ("provider", "endpoint", "expected"),
    [
        ("ollama", None, "http://127.0.0.1:11434"),
        ("Ollama", None, "http://127.0.0.1:11434"),
        ("ollama", "http://box:11434/", "http://box:11434"),
        ("ollama", "box:11434", "http://box:11434"),
        ("ollama", "http://box:11434/api/chat", "http://box:11434"),
        ("ollama", "http://box:11434/v1", "http://box:11434/v1"),
        ("openai", None, "https://api.openai.com/v1"),
        ("openai", "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("openai", "http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/v1"),
        ("openai", "https://gateway.example/a/b", "https://gateway.example/a/b"),
        ("anthropic", None, "https://api.anthropic.com"),
        ("anthropic", "https://api.anthropic.com/v1/messages", "https://api.anthropic.com"),
        ("anthropic", "https://proxy.example/v1", "https://proxy.example"),
        ("lmstudio", None, "http://127.0.0.1:1234/v1"),
        ("mine", "http://[::1]:9", "http://[::1]:9/v1"),
        ("embedded", None, ""),
        ("scripted", "http://ignored", ""),
    ],
)
def test_the_base_url_is_found_and_mended(
    provider: str, endpoint: str | None, expected: str
) -> None:
    assert resolve_endpoint(make_llm(provider, endpoint), {}) == expected


@pytest.mark.parametrize(
    ("provider", "variable", "value", "expected"),
    [
        ("ollama", "OLLAMA_HOST", "box", "http://box:11434"),
        ("openai", "OPENAI_BASE_URL", "http://box/v1", "http://box/v1"),
        ("anthropic", "ANTHROPIC_BASE_URL", "http://box", "http://box"),
    ],
)
def test_the_environment_names_another_default(
    provider: str, variable: str, value: str, expected: str
) -> None:
    environ = {variable: value}
    assert resolve_endpoint(make_llm(provider), environ) == expected
    assert resolve_endpoint(make_llm(provider, "http://own/v1"), environ).startswith("http://own")


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":8000", "http://127.0.0.1:8000"),
        ("", "http://127.0.0.1:11434"),
        ("[::]:8000", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box:9/path", "https://box:9/path"),
        (" box:9 ", "http://box:9"),
    ],
)
def test_ollama_host_may_lack_scheme_host_or_port(value: str, url: str) -> None:
    assert make_ollama_url(value) == url


@pytest.mark.parametrize(
    "endpoint",
    [
        "ftp://box",
        "http://",
        "http://box:99999",
        "http://box:port",
        "http://a b",
        "not a url",
        "http://[::1",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_server_is_a_configuration_error(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="ollama:qwen3"):
        resolve_endpoint(make_llm("ollama", endpoint), {})


@pytest.mark.parametrize(
    "endpoint", ["http://me:secret@box", "http://secret@box", "http://box/v1?key=secret"]
)
def test_secrets_in_an_endpoint_are_refused_without_showing_them(endpoint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_endpoint(make_llm("openai", endpoint), {})
    assert "secret" not in str(caught.value)


def test_an_unknown_provider_without_endpoint_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown provider 'olama'") as caught:
        resolve_endpoint(make_llm("olama"), {})
    assert "did you mean 'ollama'" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("192.168.1.7", True),
        ("10.0.0.1", True),
        ("100.64.0.1", False),
        ("box", True),
        ("box.local", True),
        ("host.docker.internal", True),
        ("api.openai.com", False),
        ("8.8.8.8", False),
    ],
)
def test_local_is_judged_by_the_name(host: str, expected: bool) -> None:
    assert is_local_host(host) is expected


def test_llms_without_endpoint_are_local() -> None:
    assert is_local(make_llm("embedded"))
    assert is_local(make_llm("scripted"))
    assert not is_local(make_llm("openai"), {})


def test_llms_of_one_server_share_their_key() -> None:
    first = make_llm("ollama", "http://localhost:11434/v1", name="a")
    second = make_llm("ollama", None, name="b")
    third = make_llm("openai", "http://127.0.0.1:11434/v1", name="c")
    keys = {build_endpoint_key(llm, {}) for llm in (first, second, third)}
    assert keys == {"http://127.0.0.1:11434"}


def test_scripted_llms_share_nothing_and_embedded_ones_do() -> None:
    assert build_endpoint_key(make_llm("scripted", name="a")) != build_endpoint_key(
        make_llm("scripted", name="b")
    )
    assert build_endpoint_key(make_llm("embedded", name="a")) == build_endpoint_key(
        make_llm("embedded", name="b")
    )


def test_ports_of_a_scheme_are_one_server() -> None:
    assert build_endpoint_key(
        make_llm("openai", "https://x.example:443/v1"), {}
    ) == build_endpoint_key(make_llm("openai", "https://x.example/v2"), {})


def test_worker_local_is_the_default_address_of_the_provider() -> None:
    llm = make_llm("ollama", "worker-local")
    assert is_worker_local(llm)
    assert resolve_endpoint(llm, {}) == "http://127.0.0.1:11434"
    assert resolve_endpoint(llm, {"OLLAMA_HOST": "desk:1234"}) == "http://desk:1234"
    assert is_worker_local(make_llm("embedded"))
    assert not is_worker_local(make_llm("ollama"))
    with pytest.raises(ConfigError, match="default address"):
        resolve_endpoint(make_llm("somebody", "worker-local"), {})


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.2:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.5:8000/v1", False),
        ("https://api.example/v1", False),
    ],
)
def test_loopback_addresses_mean_this_machine(endpoint: str, *, expected: bool) -> None:
    assert is_loopback(make_llm("openai", endpoint), {}) is expected

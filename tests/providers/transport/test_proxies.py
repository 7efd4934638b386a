from __future__ import annotations

import base64

import pytest

from poor_bench.errors import ConfigError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.transport.connections import find_proxy
from tests.providers.asking import ask, failure_of, make_provider
from tests.providers.servers import openai_format
from tests.providers.servers.fake_server import Answer, in_turn, serving

ABROAD = "http://llm.example"
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, ABROAD, None),
        ({"http_proxy": "http://p:1"}, ABROAD, ("http://p:1", "")),
        ({"HTTPS_PROXY": "http://p:1"}, "https://llm.example/v1", ("http://p:1", "")),
        ({"https_proxy": "http://p:1"}, ABROAD, None),
        ({"all_proxy": "http://p:1"}, ABROAD, ("http://p:1", "")),
        ({"http_proxy": "p:1"}, ABROAD, ("http://p:1", "")),
        ({"http_proxy": "http://me:s%40x@p:1"}, ABROAD, ("http://p:1", "me:s@x")),
        ({"http_proxy": "http://p:1", "no_proxy": ".example"}, ABROAD, None),
        ({"http_proxy": "http://p:1", "NO_PROXY": "*"}, ABROAD, None),
        ({"http_proxy": "http://p:1"}, "http://127.0.0.1:11434", None),
        ({"http_proxy": "http://p:1"}, "http://localhost:11434", None),
        ({"http_proxy": "http://p:1"}, "http://[::1]:11434", None),
    ],
)
def test_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    url: str,
    proxy: tuple[str, str] | None,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_proxy(url) == proxy


def test_a_plain_request_goes_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(openai_format.reply("four"))) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:secret@{proxy.host}")
        assert ask(make_provider("x", f"{ABROAD}:8080/v1")).text == "four"
        request = proxy.requests[0]
    assert request.path == f"{ABROAD}:8080/v1/chat/completions"
    assert request.headers["host"] == "llm.example:8080"
    credentials = request.headers["proxy-authorization"].removeprefix("Basic ")
    assert base64.b64decode(credentials) == b"me:secret"


def test_a_proxy_that_wants_credentials_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(Answer(status=407))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        error = failure_of(make_provider("x", ABROAD))
    assert error.kind is FailureKind.AUTH
    assert "proxy" in error.hint


@pytest.mark.parametrize("url", [ABROAD, "https://llm.example"])
def test_a_proxy_that_is_not_there_is_a_connection_failure(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    with serving(in_turn(Answer())) as proxy:
        address = proxy.host
    monkeypatch.setenv("all_proxy", f"http://me:secret@{address}")
    error = failure_of(make_provider("x", url))
    assert error.kind is FailureKind.CONNECTION
    assert "proxy" in str(error)
    assert "secret" not in f"{error} {error.__cause__}"


def test_a_proxy_of_an_unknown_kind_is_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "gopher://me:secret@p:1")
    with pytest.raises(ConfigError, match="gopher://p:1") as caught:
        ask(make_provider("x", ABROAD))
    assert "secret" not in str(caught.value)

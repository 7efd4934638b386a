from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from poor_bench.errors import ConfigError
from poor_bench.models.failure import FailureKind
from tests.providers.asking import ask, failure_of, make_provider
from tests.providers.servers import openai_format
from tests.providers.servers.fake_server import FakeServer, in_turn, serving


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[FakeServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with serving(in_turn(openai_format.reply("four")), context) as server:
        yield server


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_bundle_of_the_environment_is_trusted(
    server: FakeServer, bundle: Path, variable: str
) -> None:
    provider = make_provider("x", f"https://{server.host}", environ={variable: str(bundle)})
    assert ask(provider).text == "four"


def test_a_certificate_of_nobody_is_refused(server: FakeServer) -> None:
    error = failure_of(make_provider("x", f"https://{server.host}", environ={}))
    assert error.kind is FailureKind.CONNECTION
    assert "certificate" in str(error)
    assert "SSL_CERT_FILE" in error.hint
    assert server.requests == []


def test_a_certificate_for_another_name_is_refused(server: FakeServer, bundle: Path) -> None:
    url = f"https://localhost:{server.host.rpartition(':')[2]}"
    error = failure_of(make_provider("x", url, environ={"SSL_CERT_FILE": str(bundle)}))
    assert error.kind is FailureKind.CONNECTION
    assert server.requests == []


def test_a_bundle_that_does_not_exist_is_a_configuration_error(server: FakeServer) -> None:
    environ = {"SSL_CERT_FILE": "/no/such/file"}
    with pytest.raises(ConfigError, match="SSL_CERT_FILE names /no/such/file"):
        ask(make_provider("x", f"https://{server.host}", environ=environ))

from __future__ import annotations

import ssl
from pathlib import Path

import trustme

from tests.providers.asking import ask, make_provider
from tests.providers.servers import openai_format
from tests.providers.servers.fake_server import in_turn, serving


def test_a_stream_over_tls_is_read_to_its_end_and_its_connection_kept(tmp_path: Path) -> None:
    authority, bundle = trustme.CA(), tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    long = "x" * 200_000
    answer = openai_format.stream(
        openai_format.chunk({"content": "first "}),
        openai_format.chunk({"content": long}),
        openai_format.chunk({"content": " last"}, "stop"),
        openai_format.DONE,
    )
    with serving(in_turn(answer), context) as server:
        environ = {"SSL_CERT_FILE": str(bundle)}
        provider = make_provider("x", f"https://{server.host}", environ=environ)
        texts = [ask(provider).text for _ in range(3)]
    assert texts == [f"first {long} last"] * 3
    assert server.connections == 1

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from poor_bench.evaluation.browser.proxy import FilteringProxy
from tests.evaluation.browser.sites import PUBLIC, Answer, FakeInternet, Site, served


@contextmanager
def shop_on_the_internet(
    names: dict[str, str | list[str]] | None = None, *, allow_private: bool = False
) -> Iterator[tuple[Site, FakeInternet, FilteringProxy]]:
    pages = {
        "/": "welcome",
        "/go": Answer(status=302, headers={"Location": "http://127.0.0.1/secret"}),
        "/cookies": Answer("x", headers={"Set-Cookie": "a=1"}),
    }
    with served(pages) as site:
        internet = FakeInternet({"shop.example": PUBLIC, **(names or {})}, {PUBLIC: site.port})
        with FilteringProxy(allow_private=allow_private, network=internet) as proxy:
            yield site, internet, proxy


def get(proxy: FilteringProxy, url: str, **options: object) -> requests.Response:
    session = requests.Session()
    session.trust_env = False
    return session.get(url, proxies={"http": proxy.address, "https": proxy.address}, **options)


def test_public_pages_pass_through_with_their_headers() -> None:
    with shop_on_the_internet() as (site, _internet, proxy):
        response = get(proxy, "http://shop.example/cookies?x=1")
    assert (response.status_code, response.text) == (200, "x")
    assert response.cookies["a"] == "1"
    assert site.asked == ["/cookies?x=1"]
    assert proxy.filter.refusals == ()


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "localhost"])
def test_private_addresses_are_refused_in_every_spelling(host: str) -> None:
    with shop_on_the_internet() as (site, internet, proxy):
        response = get(proxy, f"http://{host}:{site.port}/")
    assert response.status_code == 403
    assert internet.dialled == site.asked == []
    assert len(proxy.filter.refusals) == 1


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with shop_on_the_internet() as (site, _internet, proxy):
        assert get(proxy, "http://shop.example/go").status_code == 403
    assert site.asked == ["/go"]


def test_a_name_with_one_private_address_is_refused() -> None:
    with shop_on_the_internet({"inside.example": "10.0.0.5"}) as (_site, internet, proxy):
        response = get(proxy, "http://inside.example/")
    assert response.status_code == 403
    assert "10.0.0.5 is a private address" in response.text
    assert internet.dialled == []


def test_a_name_that_changes_its_address_is_judged_each_time() -> None:
    names: dict[str, str | list[str]] = {"rebinding.example": [PUBLIC, "127.0.0.1"]}
    with shop_on_the_internet(names) as (site, internet, proxy):
        first = get(proxy, "http://rebinding.example/")
        second = get(proxy, "http://rebinding.example/")
    assert (first.status_code, second.status_code) == (200, 403)
    assert internet.dialled == [PUBLIC]
    assert site.asked == ["/"]


def test_tunnels_are_judged_like_requests() -> None:
    with shop_on_the_internet() as (site, _internet, proxy):
        refused = _connect(proxy, f"127.0.0.1:{site.port}")
        tunnel = _connect(proxy, "shop.example:443", b"GET / HTTP/1.0\r\n\r\n")
    assert b" 403 " in refused
    assert b" 200 " in tunnel.partition(b"\r\n")[0]
    assert tunnel.endswith(b"welcome")


def test_one_connection_carries_one_request() -> None:
    """Otherwise a server could be handed the request that was meant for another one."""
    request = b"GET http://shop.example/%s HTTP/1.1\r\nHost: shop.example\r\n\r\n"
    with shop_on_the_internet() as (site, _internet, proxy):
        answer = _exchange(proxy, request % b"" + request % b"second")
    assert answer.count(b"HTTP/1.0 ") == 1
    assert site.asked == ["/"]


def test_private_addresses_are_reached_where_the_case_allows_it() -> None:
    with shop_on_the_internet(allow_private=True) as (site, _internet, proxy):
        assert get(proxy, f"{site.address}/").text == "welcome"


def test_hosts_that_do_not_answer_are_told_apart_from_refused_ones() -> None:
    with shop_on_the_internet(allow_private=True) as (_site, _internet, proxy):
        response = get(proxy, "http://127.0.0.1:1/")
        complaint = proxy.filter.complaint("127.0.0.1")
    assert response.status_code == 502
    assert complaint is not None
    assert "refused, since" not in complaint


@pytest.mark.parametrize(
    "request_line",
    [b"GET / HTTP/1.1", b"GET ftp://shop.example/ HTTP/1.1", b"CONNECT shop.example HTTP/1.1"],
)
def test_requests_that_are_not_for_a_proxy_are_bad(request_line: bytes) -> None:
    with shop_on_the_internet() as (_site, internet, proxy):
        answer = _exchange(proxy, request_line + b"\r\n\r\n")
    assert b" 400 " in answer
    assert internet.dialled == []


def test_nothing_listens_any_more_afterwards() -> None:
    with shop_on_the_internet() as (_site, _internet, proxy):
        host, port = proxy.address.removeprefix("http://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def _connect(proxy: FilteringProxy, target: str, then: bytes = b"") -> bytes:
    return _exchange(proxy, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode(), then)


def _exchange(proxy: FilteringProxy, sent: bytes, then: bytes = b"") -> bytes:
    host, port = proxy.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(sent)
        answer = connection.recv(65536)
        connection.sendall(then) if then else connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65536):
            answer += piece
    return answer

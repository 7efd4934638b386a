from __future__ import annotations

import base64
import inspect
from http import HTTPStatus

import pytest

from poor_bench.dashboard.web import access as access_module
from poor_bench.dashboard.web.access import Access, is_loopback, refusal_of
from poor_bench.dashboard.web.server import access_rules
from poor_bench.errors import ConfigError

LOCAL = Access(host="127.0.0.1", port=8050)
OPEN = Access(host="0.0.0.0", port=8050, password="hemlig ö")


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()


def status(access: Access, method: str = "GET", **headers: str) -> HTTPStatus | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    refusal = refusal_of(access, method, named.get)
    return refusal.status if refusal else None


@pytest.mark.parametrize("host", ["127.0.0.1:8050", "localhost:8050", "[::1]:8050"])
def test_the_machines_own_names_are_answered(host: str) -> None:
    assert status(LOCAL, Host=host) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example:8050", "127.0.0.1:9999", "127.0.0.1", "localhost.evil.example:8050", "", "[::1",
     "127.0.0.1:8050@evil.example", "evil.example@127.0.0.1:8050", "127.0.0.1:port"],
)  # fmt: skip
def test_any_other_name_is_refused(host: str) -> None:
    assert status(LOCAL, Host=host) is HTTPStatus.MISDIRECTED_REQUEST


def test_port_80_needs_no_number() -> None:
    assert status(Access(host="127.0.0.1", port=80), Host="localhost") is None


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_requests_from_other_sites_are_refused(origin: str, method: str) -> None:
    assert status(LOCAL, method, Host="127.0.0.1:8050", Origin=origin) is HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_by_tls_is_not_ours_where_nothing_adds_tls(method: str) -> None:
    origin = "https://127.0.0.1:8050"
    assert status(LOCAL, method, Host="127.0.0.1:8050", Origin=origin) is HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_may_add_tls(scheme: str) -> None:
    headers = {"Host": "bench.home", "Origin": f"{scheme}://bench.home"}
    headers["Sec-Fetch-Site"] = "same-origin"
    assert status(OPEN, "POST", **headers, Authorization=basic("hemlig ö")) is None


def test_behind_a_proxy_a_page_without_tls_cannot_post() -> None:
    headers = {"Host": "bench.home", "Origin": "http://bench.home", "Sec-Fetch-Site": "cross-site"}
    refused = status(OPEN, "POST", **headers, Authorization=basic("hemlig ö"))
    assert refused is HTTPStatus.FORBIDDEN


@pytest.mark.parametrize("origin", ["http://[::1", "http://", "bench.home", "ftp://bench.home"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    refused = status(OPEN, "POST", Host="bench.home", Origin=origin)
    assert refused is HTTPStatus.FORBIDDEN


def test_a_post_of_the_page_itself_passes() -> None:
    headers = {"Host": "127.0.0.1:8050", "Origin": "http://127.0.0.1:8050"}
    assert status(LOCAL, "POST", **headers, Sec_Fetch_Site="same-origin") is None


def test_a_cross_site_post_without_origin_is_refused() -> None:
    refused = status(LOCAL, "POST", Host="127.0.0.1:8050", Sec_Fetch_Site="cross-site")
    assert refused is HTTPStatus.FORBIDDEN


def test_following_a_link_from_elsewhere_is_allowed() -> None:
    assert status(LOCAL, "GET", Host="127.0.0.1:8050", Sec_Fetch_Site="cross-site") is None


@pytest.mark.parametrize(
    "authorization",
    [None, "", basic("wrong"), basic(""), "Bearer hemlig", "Basic !!!", "Basic", "Basic aGVtbGln"],
)
def test_without_the_password_nothing_is_answered(authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    assert status(OPEN, Host="10.0.0.7:8050", **headers) is HTTPStatus.UNAUTHORIZED


def test_with_the_password_any_name_is_answered() -> None:
    assert status(OPEN, Host="bench.home:8050", Authorization=basic("hemlig ö")) is None


def test_the_password_does_not_open_other_sites_the_door() -> None:
    refused = status(
        OPEN,
        "POST",
        Host="bench.home:8050",
        Origin="http://evil.example",
        Authorization=basic("hemlig ö"),
    )
    assert refused is HTTPStatus.FORBIDDEN


def test_the_password_is_compared_in_constant_time() -> None:
    assert "compare_digest" in inspect.getsource(access_module)


def test_the_password_is_not_shown() -> None:
    assert "hemlig" not in repr(OPEN)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.0.0.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("bench.home", False)],
)  # fmt: skip
def test_loopback_addresses_are_known(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("password", [None, ""])
def test_other_addresses_demand_a_password(password: str | None) -> None:
    with pytest.raises(ConfigError, match="password") as caught:
        access_rules("0.0.0.0", 8050, password)
    assert "POOR_BENCH_PASSWORD" in caught.value.hint


def test_a_password_may_protect_this_machine_too() -> None:
    access = access_rules("127.0.0.1", 8050, "hemlig")
    assert status(access, Host="127.0.0.1:8050") is HTTPStatus.UNAUTHORIZED

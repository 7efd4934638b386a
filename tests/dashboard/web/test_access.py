from __future__ import annotations

import base64
import inspect
from http import HTTPStatus

import pytest

from poor_bench.dashboard.web import access as access_module
from poor_bench.dashboard.web.access import Access, Guard, LoginLimiter, is_loopback
from poor_bench.dashboard.web.server import access_rules
from poor_bench.errors import ConfigError

LOCAL = Access(host="127.0.0.1", port=8050)
OPEN = Access(host="0.0.0.0", port=8050, password="hemlig ö hemlig")


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()


def status(access: Access, method: str = "GET", **headers: str) -> HTTPStatus | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    refusal = Guard(access, lambda: 0.0).find_refusal(method, named.get)
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
    assert status(OPEN, "POST", **headers, Authorization=basic("hemlig ö hemlig")) is None


def test_behind_a_proxy_a_page_without_tls_cannot_post() -> None:
    headers = {"Host": "bench.home", "Origin": "http://bench.home", "Sec-Fetch-Site": "cross-site"}
    refused = status(OPEN, "POST", **headers, Authorization=basic("hemlig ö hemlig"))
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
    [
        None,
        "",
        basic("wrong"),
        basic(""),
        "Bearer hemlig",
        "Basic !!!",
        "Basic",
        "Basic aGVtbGln",
        "Basic hemlig ö",
        "Bäsic aGVtbGln",
    ],
)
def test_without_the_password_nothing_is_answered(authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    assert status(OPEN, Host="10.0.0.7:8050", **headers) is HTTPStatus.UNAUTHORIZED


def test_with_the_password_any_name_is_answered() -> None:
    assert status(OPEN, Host="bench.home:8050", Authorization=basic("hemlig ö hemlig")) is None


def test_the_password_does_not_open_other_sites_the_door() -> None:
    refused = status(
        OPEN,
        "POST",
        Host="bench.home:8050",
        Origin="http://evil.example",
        Authorization=basic("hemlig ö hemlig"),
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
    access = access_rules("127.0.0.1", 8050, "hemlig hemlig")
    assert status(access, Host="127.0.0.1:8050") is HTTPStatus.UNAUTHORIZED


def test_the_token_of_the_link_opens_a_dashboard_on_this_machine() -> None:
    access = access_rules("127.0.0.1", 8050, None)
    assert access.token is not None
    assert status(access, Host="127.0.0.1:8050") is HTTPStatus.UNAUTHORIZED
    cookie = f"other=1; {access.cookie}={access.session}; broken"
    assert status(access, Host="127.0.0.1:8050", Cookie=cookie) is None
    wrong = f"{access.cookie}={access.token}"
    assert status(access, Host="127.0.0.1:8050", Cookie=wrong) is HTTPStatus.UNAUTHORIZED


def test_each_start_has_its_own_secrets() -> None:
    first, second = (access_rules("127.0.0.1", 8050, None) for _ in range(2))
    assert len({first.token, second.token, first.session, second.session}) == 4
    assert str(first.token) not in repr(first)
    assert first.session not in repr(first)


def test_a_token_may_be_kept_in_the_environment() -> None:
    assert access_rules("127.0.0.1", 8050, None, "kept for all starts").token == (
        "kept for all starts"
    )


def test_open_pages_outlive_a_restart_only_with_a_kept_token() -> None:
    kept, again, other = (
        access_rules("127.0.0.1", 8050, None, token).session
        for token in ("kept for all starts", "kept for all starts", "another one to keep")
    )
    assert kept == again
    assert kept != other
    assert "kept for all starts" not in kept
    with_password = [
        access_rules("127.0.0.1", 8050, "hemlig hemlig", "kept for all starts") for _ in range(2)
    ]
    assert with_password[0].session != with_password[1].session


@pytest.mark.parametrize("secrets", [("short", None), (None, "short")])
def test_secrets_that_can_be_guessed_are_refused(secrets: tuple[str | None, str | None]) -> None:
    with pytest.raises(ConfigError, match="too short") as caught:
        access_rules("127.0.0.1", 8050, *secrets)
    assert "12" in caught.value.hint


class Guesser:
    """Tries passwords on one server at times of its choice."""

    def __init__(self) -> None:
        self.now = 0.0
        self._guard = Guard(OPEN, lambda: self.now)

    def try_password(self, password: str, address: str = "10.0.0.9") -> HTTPStatus | None:
        headers = {"Host": "bench.home", "Authorization": basic(password)}
        refusal = self._guard.find_refusal("GET", headers.get, address)
        return refusal.status if refusal else None


def test_guessing_is_slowed_down_more_and_more() -> None:
    guesser, tried = Guesser(), 0
    while guesser.now < 3600:
        tried += guesser.try_password(f"guess {tried}") is HTTPStatus.UNAUTHORIZED
        guesser.now += 0.5
    assert 10 < tried < 30


def test_the_right_password_is_refused_while_an_address_waits_and_taken_afterwards() -> None:
    guesser = Guesser()
    for _ in range(6):
        guesser.try_password("wrong")
    assert guesser.try_password("hemlig ö hemlig") is HTTPStatus.TOO_MANY_REQUESTS
    assert guesser.try_password("hemlig ö hemlig", "10.0.0.8") is None
    guesser.now += 5
    assert guesser.try_password("hemlig ö hemlig") is None
    assert guesser.try_password("wrong") is HTTPStatus.UNAUTHORIZED


def test_one_ipv6_network_is_one_guesser() -> None:
    guesser = Guesser()
    for number in range(6):
        guesser.try_password("wrong", f"2001:db8::{number:x}")
    assert guesser.try_password("wrong", "2001:db8::ffff") is HTTPStatus.TOO_MANY_REQUESTS
    assert guesser.try_password("wrong", "2001:db8:0:1::1") is HTTPStatus.UNAUTHORIZED


def test_guessers_do_not_fill_the_memory() -> None:
    limiter = LoginLimiter(lambda: 0.0, free=1, size=10)
    for number in range(1000):
        limiter.note_failure(f"10.0.{number // 256}.{number % 256}")
    assert limiter.wait_s("10.0.0.0") == 0
    assert limiter.wait_s("10.0.3.231") > 0
    assert len(limiter._failures) == 10

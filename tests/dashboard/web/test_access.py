from __future__ import annotations

import base64
import copy
import inspect
import json
import random
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from flask.testing import FlaskClient

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.web import access as access_module
from poor_bench.dashboard.web.access import Access, Guard, LoginLimiter, is_loopback
from poor_bench.dashboard.web.server import access_rules
from poor_bench.errors import ConfigError
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_with

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


HOST = {"Host": "127.0.0.1:8050"}
RUBBISH: tuple[Any, ...] = (
    None, True, -1, 10**400, 1.5, "", "x", "../../etc/passwd", "\ud800", [], [[]], [None], {},
    {"id": 1}, {"id": {"a": []}, "property": []}, [{"id": "x"}], "a.b.c", {"a": {"b": [1, {}]}},
)  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    files = WorkspaceFiles(tmp_path_factory.mktemp("callbacks"))
    app = create_app(services_with(files, {"one": [1, 0]}), Access(host="127.0.0.1", port=8050))
    with app.server.test_client() as client:
        yield client


def callbacks(client: FlaskClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/_dash-dependencies", headers=HOST).get_json()
    return [callback for callback in found if not callback["clientside_function"]]


def body_of(callback: dict[str, Any], value: Any) -> dict[str, Any]:
    def entry(wired: dict[str, Any]) -> Any:
        if wired["id"].startswith("{"):
            return []
        return {"id": wired["id"], "property": wired["property"], "value": value}

    names = [part for part in callback["output"].strip(".").split("...") if "." in part]
    outputs: list[Any] = [
        []
        if name.startswith("{")
        else dict(zip(("id", "property"), name.rsplit(".", 1), strict=True))
        for name in names
    ]
    changed = [f"{wired['id']}.{wired['property']}" for wired in callback["inputs"]]
    return {
        "output": callback["output"],
        "outputs": outputs if callback["output"].startswith("..") else outputs[0],
        "inputs": [entry(wired) for wired in callback["inputs"]],
        "state": [entry(wired) for wired in callback["state"]],
        "changedPropIds": changed[:1],
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


def spoiled(body: dict[str, Any], path: tuple[Any, ...], rubbish: Any) -> Any:
    if not path:
        return rubbish
    changed = copy.deepcopy(body)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = rubbish
    return changed


def post(client: FlaskClient, body: Any) -> int:
    data = json.dumps(body)
    response = client.post(
        "/_dash-update-component", data=data, headers=HOST, content_type="application/json"
    )
    return response.status_code


@pytest.mark.slow(reason="tries every callback")
def test_no_callback_fails_on_what_a_client_sends(client: FlaskClient) -> None:
    draw = random.Random(13)
    for callback in callbacks(client):
        body = body_of(callback, None)
        for path in draw.sample(list(places(body)), 8):
            wrong = spoiled(body, path, draw.choice(RUBBISH))
            assert post(client, wrong) < 500, (callback["output"], path, wrong)


@pytest.mark.slow(reason="tries every callback")
def test_no_callback_fails_on_values_of_the_wrong_kind(client: FlaskClient) -> None:
    draw = random.Random(14)
    for callback in callbacks(client):
        body = body_of(callback, draw.choice(RUBBISH))
        assert post(client, body) < 500, (callback["output"], body)


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": []},
        {"inputs": None},
        {"inputs": [1]},
        {"inputs": [{"id": "other", "property": "data", "value": 1}]},
        {"state": [{"id": "x", "property": "y"}]},
        {"changedPropIds": "x"},
        {"changedPropIds": ["no-property"]},
        {"outputs": [1]},
        {"outputs": [[], []]},
        {"inputs": [json.loads("[" * 200 + "]" * 200)]},
        {"output": 1},
        {"output": None},
    ],
)
def test_a_body_that_no_page_sends_is_a_bad_request(
    client: FlaskClient, change: dict[str, Any]
) -> None:
    first = callbacks(client)[0]
    assert post(client, body_of(first, None) | change) == 400


def test_a_text_that_no_answer_can_hold_is_a_bad_request(client: FlaskClient) -> None:
    for callback in callbacks(client):
        body = body_of(callback, "\ud800")
        if "ud800" in json.dumps(body):
            assert post(client, body) == 400, callback["output"]


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_a_bad_request(client: FlaskClient, data: bytes) -> None:
    response = client.post(
        "/_dash-update-component", data=data, headers=HOST, content_type="application/json"
    )
    assert response.status_code == 400

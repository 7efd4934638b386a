from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.web.access import Access
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_with

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

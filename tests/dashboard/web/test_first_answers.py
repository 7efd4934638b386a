from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.page import ShellIds
from poor_bench.dashboard.pages.model.layout import ModelIds
from poor_bench.dashboard.pages.registry import PAGES
from poor_bench.dashboard.web.access import Access
from poor_bench.dashboard.web.first_answers import find_values, name_outputs, write_key
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_with

HOST = {"Host": "127.0.0.1:8050"}
MOST_REQUESTS = 20
OF_THE_PAGE = ("page", "script", "styles", "first answers", "icon", "is the server there")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    files = WorkspaceFiles(tmp_path_factory.mktemp("first_answers"))
    services = services_with(files, {"one": [1, 0, 1], "two": [1, 1, 1]})
    app = create_app(services, Access(host="127.0.0.1", port=8050))
    with app.server.test_client() as client:
        yield client


def first_answers(client: FlaskClient, address: str) -> dict[str, tuple[int, str]]:
    page = client.get(address, headers=HOST).get_data(as_text=True)
    [link] = re.findall(r'<link rel="preload" as="fetch" crossorigin href="([^"]*)">', page)
    names, *answers = read_lines(client.get(html.unescape(link), headers=HOST))
    found = {key: (status, text) for key, status, text in answers}
    assert {orjson.loads(key)[0] if key.startswith("[") else key for key in found} <= set(names)
    return found


def read_lines(response: TestResponse) -> list[Any]:
    return [orjson.loads(line) for line in response.data.splitlines()]


def keys_of(answers: dict[str, Any]) -> list[list[Any]]:
    return [orjson.loads(key) for key in answers if key.startswith("[")]


def test_layout_and_callbacks_come_with_the_page(client: FlaskClient) -> None:
    answers = first_answers(client, "/")
    for path in ("/_dash-layout", "/_dash-dependencies"):
        assert answers[path] == (200, client.get(path, headers=HOST).get_data(as_text=True))


def test_the_page_of_the_address_comes_with_it(client: FlaskClient) -> None:
    answers = first_answers(client, "/compare?llm=one&theme=dark")
    address = {"path": "/compare", "search": "?llm=one&theme=dark"}
    [[output, *_]] = [key for key in keys_of(answers) if key[1] == [address]]
    assert output.startswith(f"..{ShellIds.PAGE}.children")


def test_parts_of_the_overview_come_with_it(client: FlaskClient) -> None:
    answers = first_answers(client, "/")
    tables = [text for _, text in answers.values() if '"AgGrid"' in text]
    assert any("two" in text for text in tables)
    [version] = {key[1][0] for key in keys_of(answers) if key[0].startswith("..overview-note-text")}
    assert version


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_the_first_parts_of_every_page_come_with_it(client: FlaskClient, page: Any) -> None:
    answered = {name_outputs(key[0])[0][0] for key in keys_of(first_answers(client, page.path))}
    assert set(page.first) <= answered


def test_an_answer_is_the_one_to_the_same_question(client: FlaskClient) -> None:
    answers = first_answers(client, "/")
    [key] = [key for key in answers if key.startswith('["..overview-note-text')]
    output, [version, search], [below, view, frame] = orjson.loads(key)
    names = [{"id": element, "property": name} for element, name in name_outputs(output)]
    body = {
        "output": output,
        "outputs": names,
        "inputs": [
            {"id": "shell-version-store", "property": "data", "value": version},
            {"id": "overview-search-store", "property": "data", "value": search},
        ],
        "state": [
            {"id": "overview-below-store", "property": "data", "value": below},
            {"id": "overview-view-store", "property": "data", "value": view},
            {"id": "overview-frame-store", "property": "data", "value": frame},
        ],
        "changedPropIds": ["shell-version-store.data"],
    }
    asked = client.post("/_dash-update-component", json=body, headers=HOST)
    assert orjson.loads(answers[key][1]) == asked.get_json()
    assert write_key(body) == key


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_first_page_makes_few_requests(client: FlaskClient, page: Any) -> None:
    answers = first_answers(client, page.path)
    known = find_values([orjson.loads(text) for _, text in answers.values() if text])
    elements = {element for element, _ in known}
    callbacks = client.get("/_dash-dependencies", headers=HOST).get_json()
    opening = [
        each["output"]
        for each in callbacks
        if not each["prevent_initial_call"]
        and not each["clientside_function"]
        and {name for name, _ in name_outputs(each["output"])} <= elements
    ]
    answered = {key[0] for key in keys_of(answers)}
    assert (
        len(OF_THE_PAGE) + len([each for each in opening if each not in answered]) <= MOST_REQUESTS
    )


def test_the_first_answers_need_leave_as_all_others_do(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1, 0, 1]})
    access = Access(host="127.0.0.1", port=8050, token="t" * 20, session="s" * 20)
    client = create_app(services, access).server.test_client(use_cookies=False)
    assert client.get("/_first?path=/", headers=HOST).status_code == 401
    cookie = HOST | {"Cookie": f"{access.cookie}={access.session}"}
    _, [path, status, text], *_ = read_lines(client.get("/_first?path=/", headers=cookie))
    assert (path, status) == ("/_dash-layout", 200)
    assert ShellIds.PAGE in text


def test_no_request_is_open_once_all_are_answered_or_refused(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_with(workspace_files, {"one": [1, 0, 1]})
    access = Access(host="127.0.0.1", port=8050, token="t" * 20, session="s" * 20)
    client = create_app(services, access).server.test_client(use_cookies=False)
    assert client.get("/_first?path=/", headers=HOST).status_code == 401
    cookie = HOST | {"Cookie": f"{access.cookie}={access.session}"}
    open_now: list[int] = []
    monkeypatch.setattr(
        services.tests, "floor", lambda: open_now.append(services.requests.n_open) or []
    )
    assert client.get("/_first?path=/", headers=cookie).data
    assert max(open_now) > 0
    assert services.requests.n_open == 0


def test_who_guesses_passwords_here_does_not_keep_others_from_first_answers(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1, 0, 1]})
    access = Access(host="0.0.0.0", port=8050, password="p" * 20)
    client = create_app(services, access).server.test_client(use_cookies=False)
    for _ in range(6):
        client.get("/_first?path=/", auth=("", "wrong"))
    elsewhere = {"REMOTE_ADDR": "10.0.0.5"}
    first = client.get("/_first?path=/", auth=("", "p" * 20), environ_base=elsewhere)
    _, [path, status, _], *_ = read_lines(first)
    assert (path, status) == ("/_dash-layout", 200)


def test_an_address_cannot_leave_its_tag(client: FlaskClient) -> None:
    hostile = '/"><script>alert(1)</script>?x="><b>&path=/run'
    page = client.get(hostile, headers=HOST).get_data(as_text=True)
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_a_link_asks_for_the_parts_and_rows_of_its_page_only(client: FlaskClient) -> None:
    query = {
        "path": "/model",
        "search": "?llm=scripted%3Aone&table-sort=-score",
        "version": "known",
    }
    _, names, *lines = read_lines(client.get("/_first", query_string=query, headers=HOST))
    answers = {key: (status, text) for key, status, text in lines}
    assert not {"/_dash-layout", "/_dash-dependencies"} & answers.keys()
    assert {key[0] for key in keys_of(answers)} == set(names)
    [rows] = [key for key in keys_of(answers) if key[0].startswith(f"..{ModelIds.RESULTS}.")]
    [request], [search, sort] = rows[1:]
    assert request["sortModel"] == [{"sort": "desc", "type": "default", "colId": "score"}]
    answer = orjson.loads(answers[orjson.dumps(rows).decode()][1])["response"]
    shown = answer[ModelIds.RESULTS]["getRowsResponse"]["rowData"]
    assert [row["score"] for row in shown] == [1.0, 1.0, 0.0]
    assert search == "?llm=scripted%3Aone"
    assert sort == [{"colId": "score", "sort": "desc"}]


def test_a_link_first_brings_what_its_page_shows_in_plain_html(client: FlaskClient) -> None:
    services_know = {"path": "/", "search": "", "version": "known"}
    assert client.get(
        "/_first", query_string=services_know, headers=HOST
    ).data  # answers come as they are read
    query = {"path": "/model", "search": "?llm=scripted%3Aone", "version": "known"}
    paint, *_ = read_lines(client.get("/_first", query_string=query, headers=HOST))
    assert paint.startswith('<div class="first-paint" data-first-paint="/model"')
    assert "<header" not in paint  # the one of the page that is left stays
    assert paint.index("0.667") < paint.index("score-badge")  # figures of the model, then results


def test_a_link_to_a_page_without_a_sketch_brings_an_empty_one(client: FlaskClient) -> None:
    query = {"path": "/nothing", "search": "", "version": "known"}
    paint, names, *_ = read_lines(client.get("/_first", query_string=query, headers=HOST))
    assert paint == ""
    assert names


@pytest.mark.parametrize("path", ["/", "/model", "/compare"])
def test_nothing_runs_when_a_page_opens_because_it_writes_into_the_shell(
    client: FlaskClient, path: str
) -> None:
    shell = {element for element, _ in find_values(client.get("/_dash-layout", headers=HOST).json)}
    callbacks = client.get("/_dash-dependencies", headers=HOST).get_json()
    known = [orjson.loads(text) for _, text in first_answers(client, path).values() if text]
    of_page = {element for element, _ in find_values(known)} - shell
    assert [
        each["output"]
        for each in callbacks
        if not each["clientside_function"]
        and {given["id"] for given in each["inputs"]} <= of_page
        and {element for element, _ in name_outputs(each["output"])} & shell
    ] == []


def test_values_are_found_at_any_depth() -> None:
    inner = {"type": "Store", "props": {"id": "inner", "data": 1}}
    tree = {"type": "Div", "props": {"id": "outer", "children": [None, "text", inner]}}
    found = find_values([tree])
    assert found["inner", "data"] == 1
    assert found["outer", "id"] == "outer"


def test_names_of_callbacks_are_split() -> None:
    assert name_outputs("a.children") == [("a", "children")]
    assert name_outputs("..a.children...b.data..") == [("a", "children"), ("b", "data")]

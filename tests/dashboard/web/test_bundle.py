from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.web.access import Access
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_with

HOST = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    services = services_with(WorkspaceFiles(tmp_path_factory.mktemp("bundle")), {"one": [1, 0, 1]})
    app = create_app(services, Access(host="127.0.0.1", port=8050))
    with app.server.test_client() as client:
        yield client


def addresses(client: FlaskClient) -> list[str]:
    page = client.get("/", headers=HOST).get_data(as_text=True)
    return re.findall(r'(?:src|href)="([^"]*)"', page)


def bundle(client: FlaskClient, suffix: str) -> str:
    *_early, address = (each for each in addresses(client) if each.endswith(suffix))
    return client.get(address, headers=HOST).get_data(as_text=True)


def test_a_page_loads_one_style_sheet_and_one_script_besides_the_early_one(
    client: FlaskClient,
) -> None:
    paths = [address.partition("?")[0] for address in addresses(client)]
    kinds = sorted(path.rpartition(".")[2] for path in paths)
    assert kinds == ["/_first", "css", "ico", "js", "js"]


def test_the_colours_are_chosen_before_anything_is_shown(client: FlaskClient) -> None:
    scripts = [each for each in addresses(client) if each.endswith(".js")]
    early = client.get(scripts[0], headers=HOST).get_data(as_text=True)
    assert "data-mantine-color-scheme" in early
    assert len(early) < 3_000
    assert early not in bundle(client, ".js")


def test_styles_hold_the_icons(client: FlaskClient) -> None:
    styles = bundle(client, ".css")
    assert ".icon-refresh" in styles
    assert set(re.findall(r"url\(.{6}", styles)) == {'url("data:'}


def test_scripts_of_libraries_come_first_then_ours_then_the_start(client: FlaskClient) -> None:
    scripts = bundle(client, ".js")
    table, ours = scripts.index("/dash_ag_grid/"), scripts.index("dashAgGridComponentFunctions =")
    assert table < ours < scripts.index("/dash-renderer/") < scripts.index("new DashRenderer()")


def test_scripts_know_where_their_other_parts_are(client: FlaskClient) -> None:
    [source] = re.findall(
        r'"(/_dash-component-suites/dash/dcc/[^"]*components\.v[^"]*)"', bundle(client, ".js")
    )
    chunk = source.rpartition("/")[0] + "/async-graph.js"
    assert client.get(chunk, headers=HOST).status_code == 200


def test_another_address_holds_nothing(client: FlaskClient) -> None:
    assert client.get("/_bundle/with-dash-renderer.0.js", headers=HOST).status_code == 404


def test_browsers_without_brotli_get_the_same(client: FlaskClient) -> None:
    [address] = [each for each in addresses(client) if each.endswith(".css")]
    plain = client.get(address, headers=HOST)
    assert "Content-Encoding" not in plain.headers
    shrunk = client.get(address, headers=HOST | {"Accept-Encoding": "gzip"})
    assert shrunk.headers["Content-Encoding"] == "gzip"

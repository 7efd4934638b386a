from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from dash import Dash, Input, Output
from dash.development.base_component import Component
from flask.testing import FlaskClient

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.page import ShellIds
from poor_bench.dashboard.pages.registry import PAGES
from poor_bench.dashboard.web.access import Access
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_with

HOST = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Dash:
    return open_app(WorkspaceFiles(tmp_path_factory.mktemp("app")))


@pytest.fixture
def client(app: Dash) -> Iterator[FlaskClient]:
    with app.server.test_client() as client:
        yield client


def open_app(files: WorkspaceFiles) -> Dash:
    services = services_with(files, {"one": [1, 0, 1]})
    return create_app(services, Access(host="127.0.0.1", port=8050))


def ids_in(layout: Any) -> Iterator[str]:
    if isinstance(layout, dict):
        props = layout.get("props", {})
        if "id" in props:
            yield json.dumps(props["id"]) if isinstance(props["id"], dict) else props["id"]
        for value in props.values():
            yield from ids_in(value)
    elif isinstance(layout, list):
        for item in layout:
            yield from ids_in(item)


def named_in(shown: Any) -> Iterator[tuple[str, Component]]:
    """List the components that have a plain id, also those in properties of others."""
    if isinstance(shown, list | tuple | dict):
        if isinstance(shown, dict) and shown.get("namespace") and "id" in shown["props"]:
            yield shown["props"]["id"], shown  # a component of ours, see `still_place`
        for each in shown.values() if isinstance(shown, dict) else shown:
            yield from named_in(each)
    elif isinstance(shown, Component):
        held = shown.to_plotly_json()["props"]
        if isinstance(held.get("id"), str):
            yield held["id"], shown
        yield from named_in(held)


def wired_properties(dependencies: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for callback in dependencies:
        for argument in (*callback["inputs"], *callback["state"]):
            yield argument["id"], argument["property"]
        for output in callback["output"].strip(".").split("..."):
            if "." in output:
                name, _, of_it = output.rpartition(".")
                yield name, of_it.partition("@")[0]


def has_property(component: Any, name: str) -> bool:
    if isinstance(component, dict):
        return name in component["props"]
    wild = tuple(component._valid_wildcard_attributes)
    return name in component.available_properties or name.startswith(wild)


def test_the_layout_is_served(client: FlaskClient) -> None:
    response = client.get("/_dash-layout", headers=HOST)
    assert response.status_code == 200
    assert ShellIds.PAGE in set(ids_in(response.get_json()))


def test_every_wired_property_stands_in_some_layout(app: Dash, client: FlaskClient) -> None:
    pages = [[page.layout(page.url()), *page.parts()] for page in PAGES]
    known = dict(named_in([app.layout, *pages]))
    wired = wired_properties(client.get("/_dash-dependencies", headers=HOST).get_json())
    assert [
        (name, of_it)
        for name, of_it in wired
        if not name.startswith("{") and not (name in known and has_property(known[name], of_it))
    ] == []


def test_a_document_does_without_the_layouts_of_all_pages(client: FlaskClient) -> None:
    assert len(client.get("/", headers=HOST).data) < 30_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_no_id_stands_twice_on_a_page(app: Dash, page: Any) -> None:
    shown = json.loads(
        json.dumps([app.layout, page.layout(page.url()), *page.parts()], cls=_encoder())
    )
    ids = list(ids_in(shown))
    assert sorted(ids) == sorted(set(ids))


def test_a_tab_of_an_earlier_version_is_told_to_reload(client: FlaskClient) -> None:
    gone = {"id": "gone-thing", "property": "children"}
    body = {"output": "gone-thing.children", "outputs": gone, "inputs": [], "changedPropIds": []}
    response = client.post("/_dash-update-component", json=body, headers=HOST)
    assert response.status_code == 200
    [told] = response.get_json()["sideUpdate"][ShellIds.NOTICES]["sendNotifications"]
    assert told["title"] == "Reload this page"
    assert response.get_json()["response"] == {}


def test_a_callback_answers(client: FlaskClient) -> None:
    body = {
        "output": f"..{ShellIds.PAGE}.children...{ShellIds.NAVIGATION}.children..",
        "outputs": [
            {"id": ShellIds.PAGE, "property": "children"},
            {"id": ShellIds.NAVIGATION, "property": "children"},
        ],
        "inputs": [
            {"id": ShellIds.ADDRESS, "property": "data", "value": {"path": "/x", "search": ""}},
        ],
        "changedPropIds": [f"{ShellIds.ADDRESS}.data"],
    }
    response = client.post("/_dash-update-component", json=body, headers=HOST)
    assert response.status_code == 200
    assert "Unknown page" in response.get_data(as_text=True)


def test_requests_to_other_names_are_refused(client: FlaskClient) -> None:
    for path in ("/", "/_dash-layout", "/assets/10-tokens.css"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_every_answer_has_strict_headers(client: FlaskClient) -> None:
    for path in ("/", "/_dash-layout", "/assets/10-tokens.css", "/_dash-update-component"):
        headers = client.get(path, headers=HOST, buffered=True).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
        assert "'unsafe-inline'" not in scripts
        assert "http" not in policy


def test_a_refusal_has_the_headers_too(client: FlaskClient) -> None:
    assert "Content-Security-Policy" in client.get("/", headers={"Host": "evil"}).headers


def test_results_are_never_kept_by_caches(client: FlaskClient) -> None:
    assert client.get("/_dash-layout", headers=HOST).headers["Cache-Control"] == "no-store"
    assert client.get("/", headers=HOST).headers["Cache-Control"] == "no-store"


def test_the_icon_is_kept(client: FlaskClient) -> None:
    page = client.get("/", headers=HOST).get_data(as_text=True)
    path = next(part for part in page.split('"') if "favicon" in part)
    assert "immutable" in client.get(path, headers=HOST).headers["Cache-Control"]


def test_scripts_are_compressed_and_kept(client: FlaskClient) -> None:
    page = client.get("/", headers=HOST).get_data(as_text=True)
    path = next(part for part in page.split('"') if part.endswith(".js"))
    response = client.get(path, headers=HOST | {"Accept-Encoding": "br, gzip"})
    assert response.headers["Content-Encoding"] == "br"
    assert "immutable" in response.headers["Cache-Control"]
    again = client.get(path, headers=HOST | {"Accept-Encoding": "br, gzip"})
    assert again.data == response.data


@pytest.mark.parametrize(
    "path",
    ["_dash-component-suites/dash/none.js", "_dash-component-suites/none/x.js",
     "_dash-component-suites/dash/../../x.js", "assets/none.js", "assets/../app.py"],
)  # fmt: skip
def test_a_script_that_is_not_there_is_not_found_and_not_kept(
    client: FlaskClient, path: str
) -> None:
    response = client.get(f"/{path}", headers=HOST)
    assert response.status_code == 404
    assert response.headers["Cache-Control"] == "no-store"
    assert "registered" not in response.get_data(as_text=True)


def test_answers_are_compressed(client: FlaskClient) -> None:
    response = client.get("/_dash-dependencies", headers=HOST | {"Accept-Encoding": "br"})
    assert response.headers["Content-Encoding"] == "br"


def test_nothing_is_loaded_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/", headers=HOST).get_data(as_text=True)
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert any(source.endswith(".js") for source in sources)
    assert all(re.match(r"/(?!/)", source) for source in sources)


def test_an_error_of_ours_shows_no_stack_trace(workspace_files: WorkspaceFiles) -> None:
    app = open_app(workspace_files)

    @app.callback(Output(ShellIds.PROBLEMS, "title"), Input(ShellIds.CLOCK, "disabled"))
    def _break(_disabled: bool) -> str:
        raise RuntimeError("secret place")

    body = {
        "output": f"{ShellIds.PROBLEMS}.title",
        "outputs": {"id": ShellIds.PROBLEMS, "property": "title"},
        "inputs": [{"id": ShellIds.CLOCK, "property": "disabled", "value": True}],
        "changedPropIds": [f"{ShellIds.CLOCK}.disabled"],
    }
    with app.server.test_client() as client:
        response = client.post("/_dash-update-component", json=body, headers=HOST)
    text = response.get_data(as_text=True)
    assert "secret place" not in text
    assert "Traceback" not in text
    assert "Action failed" in text


def test_a_broken_request_gets_a_plain_answer(client: FlaskClient) -> None:
    response = client.post("/_dash-update-component", data="{", headers=HOST)
    assert response.status_code == 400
    assert "Traceback" not in response.get_data(as_text=True)


@pytest.fixture
def locked(workspace_files: WorkspaceFiles) -> Iterator[FlaskClient]:
    """A client of a dashboard that wants the token of its link."""
    services = services_with(workspace_files, {"one": [1]})
    access = Access(host="127.0.0.1", port=8050, token="right-token", session="right-session")
    with create_app(services, access).server.test_client() as client:
        yield client


def test_without_the_link_nothing_is_answered(locked: FlaskClient) -> None:
    for path in ("/", "/_dash-layout", "/assets/10-tokens.css", "/?token=wrong", "/?token=%C3%B6"):
        response = locked.get(path, headers=HOST)
        assert response.status_code == 401
        assert "Set-Cookie" not in response.headers
        assert "?token=" in response.get_data(as_text=True)


def test_the_link_leaves_a_cookie_and_no_token_in_the_address(locked: FlaskClient) -> None:
    response = locked.get("/model?llm=a%26b&token=right-token", headers=HOST)
    assert response.status_code == 303
    assert response.headers["Location"] == "/model?llm=a%26b"
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "right-token" not in cookie
    assert locked.get("/_dash-layout", headers=HOST).status_code == 200


def test_the_link_leads_to_no_other_site(locked: FlaskClient) -> None:
    response = locked.get("/%2F/evil.example/x?token=right-token", headers=HOST)
    assert response.headers["Location"] == "/evil.example/x"


def test_a_token_does_not_help_other_names_or_sites(locked: FlaskClient) -> None:
    path = "/?token=right-token"
    assert locked.get(path, headers={"Host": "evil.example:8050"}).status_code == 421
    foreign = HOST | {"Origin": "http://evil.example"}
    assert locked.get(path, headers=foreign).status_code == 403


def test_a_password_is_asked_once_by_browsers(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    access = Access(host="0.0.0.0", port=8050, password="hemlig hemlig", session="right-session")
    with create_app(services, access).server.test_client() as client:
        assert client.get("/", headers=HOST).headers["WWW-Authenticate"].startswith("Basic")
        assert client.get("/", headers=HOST, auth=("x", "hemlig hemlig")).status_code == 200
        assert client.get("/", headers=HOST).status_code == 200


def test_two_applications_live_beside_each_other(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    for port in (8050, 8051):
        app = create_app(services, Access(host="127.0.0.1", port=port))
        response = app.server.test_client().get(
            "/_dash-dependencies", headers={"Host": f"127.0.0.1:{port}"}
        )
        assert len(response.get_json()) > 10


def _encoder() -> Any:
    from plotly.utils import PlotlyJSONEncoder

    return PlotlyJSONEncoder

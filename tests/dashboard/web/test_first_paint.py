from __future__ import annotations

import json
import re
import threading
from functools import lru_cache
from html.parser import HTMLParser
from pkgutil import resolve_name
from typing import Any

import pytest
from dash import dcc, html
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.pages.issues.callbacks import show as show_issues
from poor_bench.dashboard.pages.overview.callbacks import leaderboard_rows
from poor_bench.dashboard.pages.tests.callbacks import show as show_tests
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.web.access import Access
from poor_bench.dashboard.web.first_paint import write_html
from poor_bench.messages import harmless
from poor_bench.statistics.summary import GroupBy
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of, services_with
from tests.dashboard.seen_text import components
from tests.waiting import wait_for

HOST = {"Host": "127.0.0.1:8050"}
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    return services_with(workspace_files, {"good": [1, 1, 1], "bad": [0, 0, 1]})


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Services whose figures are computed, for tests that only read."""
    files = WorkspaceFiles(tmp_path_factory.mktemp("first_paint"))
    services = services_with(files, {"good": [1, 1, 1], "bad": [0, 0, 1]})
    services.results.summaries(GroupBy.LLM)
    return services


def list_texts(content: Any) -> set[str]:
    """List the texts of elements that hold nothing else."""
    texts = {part.children for part in components(content) if isinstance(part.children, str)}
    return texts - {""}


@lru_cache(maxsize=1)
def open_server(services: Services) -> Flask:
    server: Flask = create_app(services, Access(host="127.0.0.1", port=8050)).server
    return server


def read_paint(services: Services, address: str = "/") -> str:
    """Read the part of the document that is shown before any script has run."""
    with open_server(services).test_client() as client:
        text = client.get(address, headers=HOST).get_data(as_text=True)
    found = re.search(r"<div [^>]*data-first-paint.*(?=<noscript>)", text, re.DOTALL)
    return found[0] if found else ""


def test_the_document_shows_the_models_as_the_page_does(shown: Services) -> None:
    paint = Seen(read_paint(shown))
    rows = leaderboard_rows(shown)
    places = [paint.text.index(row["model"]) for row in rows]
    assert places == sorted(places)
    for row in rows:
        assert row["texts"]["average_score"] in paint.text
    assert "3 tests" in paint.text


def test_its_table_is_sorted_as_the_address_says(shown: Services) -> None:
    paint = Seen(read_paint(shown, "/?table-sort=average_score")).text
    assert paint.index("bad") < paint.index("good")


def test_its_links_lead_to_the_pages_of_the_models(shown: Services) -> None:
    links = [each["href"] for tag, each in Seen(read_paint(shown)).tags if tag == "a"]
    assert sum(str(link).startswith("/model?llm=") for link in links) == 2


def test_the_document_of_a_model_shows_its_figures(shown: Services) -> None:
    text = Seen(read_paint(shown, "/model?llm=scripted:bad")).text
    [row] = [row for row in leaderboard_rows(shown) if row["id"] == "scripted:bad"]
    assert row["texts"]["average_score"] in text
    assert row["texts"]["pass_rate"] in text


def test_the_document_of_a_comparison_shows_both_models(shown: Services) -> None:
    paint = Seen(read_paint(shown, "/compare?llm=scripted:good&llm=scripted:bad"))
    for row in leaderboard_rows(shown):
        assert row["model"] in paint.text
        assert row["texts"]["average_score"] in paint.text


def test_the_document_of_issues_shows_its_causes(shown: Services) -> None:
    shown.issues.wait()
    note, _, causes, *_ = show_issues(shown, "")
    paint = Seen(read_paint(shown, "/issues"))
    assert {note, *list_texts(causes)} <= paint.texts


def test_the_document_of_tests_shows_classes_and_findings(shown: Services) -> None:
    wait_for(lambda: shown.tests.findings().is_current)
    note, classes, findings, *_ = show_tests(shown, "")
    paint = Seen(read_paint(shown, "/tests"))
    assert {note, *list_texts([classes, findings])} <= paint.texts


def test_the_document_of_models_does_not_wait_for_their_servers(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.results.summaries(GroupBy.LLM)
    gate = threading.Event()
    monkeypatch.setattr(services.llms, "_check", lambda _: gate.wait(30))
    paint = Seen(read_paint(services, "/llms"))
    gate.set()
    assert {"scripted:good", "scripted:bad", "checking ..."} <= paint.texts


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    ("address", "work", "texts"),
    [
        ("/issues", "issue_reports._build_report", {"Issues", "By cause"}),
        ("/tests", "test_reports._find_faults", {"Tests", "Classes", "Findings"}),
    ],
)
def test_a_page_says_soon_that_it_is_computing(
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    work: str,
    texts: set[str],
) -> None:
    services.results.summaries(GroupBy.LLM)
    gate, name = threading.Event(), f"poor_bench.dashboard.services.{work}"
    compute = resolve_name(name)
    monkeypatch.setattr(name, lambda *given: gate.wait(30) and compute(*given))
    paint = Seen(read_paint(services, address))
    gate.set()
    services.issues.wait()
    services.tests.wait_for_findings()
    assert texts <= paint.texts
    assert any(re.match(r"computing( \.\.\.|: 6 of 6 results read)", text) for text in paint.texts)


@pytest.mark.parametrize("address", ["/model?llm=nobody", "/compare?llm=nobody"])
def test_unknown_models_are_left_to_the_page(shown: Services, address: str) -> None:
    assert read_paint(shown, address) == ""


def test_a_fault_of_ours_in_the_first_paint_leaves_the_page_as_it_is(
    services: Services, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    services.results.summaries(GroupBy.LLM)
    monkeypatch.setattr(services.results, "ranking", lambda: {}["x"])
    assert read_paint(services) == ""
    assert "the first paint of Overview failed" in caplog.text


def test_nobody_waits_for_figures_that_were_not_computed_yet(services: Services) -> None:
    assert read_paint(services) == ""


def test_unknown_addresses_have_none(shown: Services) -> None:
    assert read_paint(shown, "/nothing") == ""


@pytest.mark.parametrize(
    ("address", "texts"),
    [
        ("/run?llm=scripted:bad", {"Run", "Classes", "scripted:bad", "Pending"}),
        ("/judge", {"Judge", "Agent", "required", "No runs yet"}),
        ("/suites", {"Suites", "Trials", "default", "No runs yet"}),
    ],
)
def test_a_page_of_controls_shows_their_texts(
    shown: Services, address: str, texts: set[str]
) -> None:
    paint = Seen(read_paint(shown, address))
    assert texts <= paint.texts
    assert {tag for tag, _ in paint.tags}.isdisjoint({"input", "select", "button"})


def test_what_the_document_shows_covers_the_page_that_is_being_drawn(shown: Services) -> None:
    with open_server(shown).test_client() as client:
        covered, plain = (
            Seen(client.get(address, headers=HOST).get_data(as_text=True))
            for address in ("/", "/nothing")
        )
    for seen, is_covered in ((covered, True), (plain, False)):
        [entry] = [each for _, each in seen.tags if each.get("id") == "react-entry-point"]
        assert ("data-covered" in entry) is is_covered


def test_a_search_that_finds_no_model_is_left_to_the_page(shown: Services) -> None:
    assert read_paint(shown, "/?text=nothing-like-it") == ""


def test_faults_of_the_workspace_are_left_to_the_page(
    services: Services, workspace_files: WorkspaceFiles
) -> None:
    services.results.summaries(GroupBy.LLM)
    (services.files.config().data_dir / "tests.json").write_text("{")
    assert read_paint(services) == ""


def test_names_of_models_cannot_become_elements(
    services: Services, workspace_files: WorkspaceFiles
) -> None:
    path = services.files.config().data_dir / "llms.json"
    llms = json.loads(path.read_text())
    llms["llms"][0]["label"] = HOSTILE
    path.write_text(json.dumps(llms))
    services.results.summaries(GroupBy.LLM)
    paint = Seen(read_paint(services))
    assert HOSTILE in paint.text
    assert {tag for tag, _ in paint.tags}.isdisjoint({"img", "script"})


class Seen(HTMLParser):
    """What a browser finds in HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.texts: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
        self.texts.add(data)


@given(text=st.text(), title=st.text(st.characters(blacklist_categories=["Cs"])))
def test_no_text_becomes_an_element(text: str, title: str) -> None:
    seen = Seen(write_html(html.P([html.B(text), "end"], title=title)))
    assert [tag for tag, _ in seen.tags] == ["p", "b"]
    assert seen.tags[0][1] == {"title": title}
    assert seen.text == f"{harmless(text)}end"


def test_attributes_have_their_names_of_html() -> None:
    cell = html.Td("x", className="number", colSpan=2, tabIndex="0", title=None, hidden=False)
    [(tag, attributes)] = Seen(write_html(cell)).tags
    assert (tag, attributes) == ("td", {"class": "number", "colspan": "2", "tabindex": "0"})


def test_a_link_to_a_page_is_a_link() -> None:
    [(tag, attributes)] = Seen(write_html(dcc.Link("Run", href="/run?a=1&b=2"))).tags
    assert tag == "a"
    assert attributes["href"] == "/run?a=1&b=2"


def test_a_style_is_css() -> None:
    [(_, attributes)] = Seen(
        write_html(html.Span(style={"--score": "0.5", "flexGrow": 3, "width": "40.0%"}))
    ).tags
    assert attributes["style"] == "--score: 0.5; flex-grow: 3; width: 40.0%"


@pytest.mark.parametrize("component", [html.P("x", title=["x"]), html.P("x", id="x")])
def test_what_needs_a_script_is_refused(component: html.P) -> None:
    with pytest.raises(TypeError):
        write_html(component)


def test_page_issues_hears_every_filter(workspace_files: WorkspaceFiles) -> None:
    from dash import Dash

    from poor_bench.dashboard.pages.issues.callbacks import register
    from poor_bench.dashboard.pages.issues.layout import IssuesIds

    app = Dash("issues")
    register(app, services_of(workspace_files.write()))
    heard = {each["id"] for callback in app._callback_list for each in callback["inputs"]}
    assert {IssuesIds.LLMS, IssuesIds.CLASSES, IssuesIds.LEVELS} <= heard

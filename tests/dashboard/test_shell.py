from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from dash import no_update
from plotly.utils import PlotlyJSONEncoder

from poor_bench.dashboard import page, shell
from poor_bench.dashboard.app import tell_about
from poor_bench.dashboard.components.blocks import error_banner
from poor_bench.dashboard.page import CLOCK_BUSY_MS, CLOCK_IDLE_MS, Page
from poor_bench.dashboard.pages.registry import PAGES, page_at
from poor_bench.dashboard.services.run_state import RunPhase, RunState
from poor_bench.dashboard.shell import build_blocked_state, connection_banner, show_page
from poor_bench.errors import ConfigError, StoreError
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import components, of_type, text_of


def test_pages_have_paths_of_their_own() -> None:
    paths = [page.path for page in PAGES]
    assert len(set(paths)) == len(paths)
    assert {"/", "/model", "/run"} <= set(paths)


def test_a_path_leads_to_its_page_with_or_without_a_slash() -> None:
    assert page_at("/run/") is page_at("/run")
    assert page_at(None) is page_at("/")
    assert page_at("/nowhere") is None


def test_the_present_page_is_marked_in_the_navigation(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    _, links = show_page(services, "/run", "")
    active = [link.href for link in links if "is-active" in link.className]
    assert active == ["/run"]


def test_an_unknown_address_leads_back(workspace_files: WorkspaceFiles) -> None:
    page, _ = show_page(services_of(workspace_files.write()), "/<script>", "?x=1")
    assert "Unknown page" in text_of(page)
    assert [link.href for link in of_type(page, "Link")] == ["/"]


@pytest.mark.parametrize("path", ["/model", "/compare", "/issues", "/run"])
def test_an_address_may_name_an_llm_by_the_id_of_an_older_tool(
    workspace_files: WorkspaceFiles, path: str
) -> None:
    services = services_with(workspace_files, {"one": [1], "two": [0]})
    old, _ = show_page(services, path, "?llm=scripted%3Aone%3Afalse&llm=scripted%3Atwo")
    new, _ = show_page(services, path, "?llm=scripted%3Aone&llm=scripted%3Atwo")
    assert "scripted:one:false" not in json.dumps(old.to_plotly_json(), cls=PlotlyJSONEncoder)
    assert json.dumps(old.to_plotly_json(), cls=PlotlyJSONEncoder) == json.dumps(
        new.to_plotly_json(), cls=PlotlyJSONEncoder
    )


def test_the_base_of_a_comparison_may_be_named_by_an_old_id(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1], "two": [0]})
    page, _ = show_page(services, "/compare", "?base=scripted%3Atwo%3Atrue")
    stored = [getattr(store, "data", None) for store in of_type(page, "Store")]
    searches = [data for data in stored if "base=" in str(data)]
    assert "?base=scripted%3Atwo" in searches
    assert not [data for data in searches if not data.endswith("base=scripted%3Atwo")]


@pytest.mark.parametrize("path", ["/model", "/compare", "/issues", "/run"])
def test_an_address_with_an_unknown_llm_names_the_nearest(
    workspace_files: WorkspaceFiles, path: str
) -> None:
    services = services_with(workspace_files, {"one": [1]})
    page, links = show_page(services, path, "?llm=scripted%3Aonne")
    assert "Unknown model" in text_of(page)
    assert "scripted:one" in text_of(page)
    assert [link.href for link in links if "is-active" in link.className] == [path]


def test_an_address_may_name_an_llm_that_only_has_results(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    write_results(services.files.config().data_dir, {"gone:model": [scored("sum_001", 1.0)]})
    services.refresh()
    page, _ = show_page(services, "/model", "?llm=gone%3Amodel")
    assert "Unknown model" not in text_of(page)


def test_an_address_names_no_llm_while_files_cannot_be_read(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1]})
    (services.files.config().data_dir / "llms.json").write_text("{")
    services.refresh()
    page, _ = show_page(services, "/model", "?llm=scripted%3Aone")
    assert "Unknown model" not in text_of(page)


def test_pages_hear_only_of_what_is_new(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    version, wait_ms, status = shell.follow(services, None)
    assert (wait_ms, status) == (CLOCK_IDLE_MS, None)
    assert shell.follow(services, version)[0] is no_update


def test_the_clock_is_quick_while_a_run_goes_on() -> None:
    assert page.clock_ms(RunState(phase=RunPhase.RUNNING)) == CLOCK_BUSY_MS
    assert page.clock_ms(RunState(phase=RunPhase.FINISHED)) == CLOCK_IDLE_MS


@pytest.mark.parametrize(("waited_ms", "wanted"), [(250, 312), (4000, 5000), (None, 312)])
def test_what_is_computed_is_asked_for_less_and_less_often_also_by_a_page_just_left(
    waited_ms: int | None, wanted: int
) -> None:
    assert page.lengthen_wait(waited_ms, is_current=False) == wanted
    assert page.lengthen_wait(waited_ms, is_current=True) == 250


def test_refreshing_says_what_is_there(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1, 0]})
    before = services.version()
    version, [message] = shell.refresh(services)
    assert version != before
    assert message["message"] == "2 results of 1 model"


def test_problems_of_the_workspace_stand_on_every_page(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1, class_id="no such class")
    services = services_of(workspace_files.write())
    shown, page_class = shell.show_problems(services, "/model")
    assert "no such class" in text_of(shown)
    assert page_class == "page is-blocked"
    _, [message] = shell.refresh(services)
    assert message["title"] == "Action failed"


def test_without_problems_nothing_is_shown(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    assert shell.show_problems(services, "/") == (None, "page")


def test_what_stands_on_every_page_is_not_told_once_more(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1, class_id="no such class")
    services = services_of(workspace_files.write())
    problem = services.problem()
    assert problem is not None
    assert tell_about(services, problem) == ""
    assert tell_about(services, ConfigError("other")) == "Other"


def test_an_error_of_our_own_shows_nothing_but_a_number(workspace_files: WorkspaceFiles) -> None:
    told = tell_about(services_of(workspace_files.write()), ValueError("secret"))
    assert "see the log" in told
    assert "secret" not in told


def test_results_that_cannot_be_read_are_told_as_a_whole() -> None:
    shown = text_of(build_blocked_state(StoreError("disk <b> broken", hint="try another")))
    assert "Results cannot be read" in shown
    assert "disk <b> broken" in shown
    assert "try another" in shown


def test_a_banner_shows_the_way_out() -> None:
    shown = text_of(error_banner(ConfigError("broken <b>", hint="mend it")))
    assert "broken <b>" in shown
    assert "mend it" in shown


_OLD_WORDS = re.compile(
    r"\bLLMs?\b|tokens? / s|not established|\bthe base\b|switched o|\basked\b|under way|mended"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_pages_call_a_model_a_model(workspace_files: WorkspaceFiles, page: Page) -> None:
    services = services_with(workspace_files, {"one": [1], "two": [0]})
    shown, links = show_page(services, page.path, "")
    texts = " | ".join(
        [text_of(links), *(text for part in components(shown) for text in _texts(part))]
    )
    assert page.title in texts
    assert not _OLD_WORDS.findall(texts)


def _texts(part: Any) -> Iterator[str]:
    given = part.to_plotly_json()["props"]
    named = ("children", "label", "placeholder", "title", "aria-label", "nothingFoundMessage")
    yield from (given[name] for name in named if isinstance(given.get(name), str))


def test_the_banner_says_what_to_do_while_the_server_is_away() -> None:
    said = text_of(connection_banner())
    assert "Restart if stopped" in said
    assert "Open the printed link: it ends with ?token=" in said


@pytest.mark.parametrize(
    ("path", "search"),
    [
        ("/", "?class=nothing&group=moons&table-sort=-moons&theme=pink"),
        ("/model", "?class=nothing&level=high&test=gone&outcome=maybe&at=0&min_score=much"),
        ("/compare", "?level=99&order=moons&show=moons&page=x"),
        ("/issues", "?class=nothing&severity=moons"),
        ("/tests", "?class=nothing&level=99&test=gone&page=2&sort=moons&tick=gone"),
        ("/llms", "?page=7"),
        ("/run", "?class=nothing&redo=moons"),
        ("/judge", "?agent=gone&run=gone&case=gone&base=gone"),
        ("/suites", "?suite=gone&run=gone&case=unknown&trial=7"),
    ],
)
def test_what_an_address_names_and_does_not_exist_is_told_and_left_out(
    workspace_files: WorkspaceFiles, path: str, search: str
) -> None:
    services = services_with(workspace_files, {"one": [1]})
    page, _ = show_page(services, path, search)
    divs = of_type(page, "Div")
    [banner] = [each for each in divs if getattr(each, "className", "") == "error-banner"]
    named = [code.children for code in of_type(banner, "Code")]
    assert sorted(named) == sorted(search.removeprefix("?").split("&"))
    assert "Defaults shown." in text_of(banner)
    stored = [str(getattr(store, "data", "")) for store in of_type(page, "Store")]
    assert not [data for data in stored if "gone" in data or "nothing" in data]


def test_what_an_address_names_and_exists_is_not_told(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    for path, search in (
        ("/model", "?class=sums&level=2&test=sum_001&trial=3&outcome=passed&table-sort=-score"),
        ("/compare", "?order=-score&test=sum_001&class=sums&show=all"),
        ("/tests", "?page=1&test=sum_001&sort=mean&below-zero=yes&min-discrimination=-0.5"),
        ("/", "?group=&top=50&heat-map=levels&theme=dark"),
    ):
        page, _ = show_page(services, path, search)
        assert "Not found" not in text_of(page), (path, search)

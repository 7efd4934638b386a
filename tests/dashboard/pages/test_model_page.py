from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from poor_bench.dashboard.components.grids import choose_columns
from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.pages.model import callbacks, results
from poor_bench.dashboard.pages.model.layout import COLUMNS, layout
from poor_bench.dashboard.pages.model.url import ClassOrder, ModelUrl, read_selected_key
from poor_bench.dashboard.pages.model.view import build_breakdown
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.shell import show_page
from poor_bench.dashboard.url_state import GridUrl, model_link
from poor_bench.models.result import Result
from poor_bench.results.query import Outcome, Range
from poor_bench.results.table import TrialKey
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summary import Group, Summary
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import of_type, text_of
from tests.waiting import wait_for

ATTACK = '<img src=x onerror="alert(1)"> [click](javascript:alert(1)) ![i](http://evil.example/x)'
SEARCH = "?llm=scripted%3Aone"


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    return services_with(workspace_files, {"one": [1, 0, 0.5, 1]}, n_tests=4)


def rows(services: Services, search: str = SEARCH, **request: Any) -> list[dict[str, Any]]:
    answer = results.page_of_rows(services, search, {"startRow": 0, "endRow": 100, **request})
    shown: list[dict[str, Any]] = answer["rowData"]
    return shown


def hostile(workspace_files: WorkspaceFiles, **fields: Any) -> Services:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", ["4"])
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 0.0, **fields)]})
    return services_of(folder)


def test_the_table_has_exactly_the_columns_asked_for_and_offers_peoples_ratings() -> None:
    assert [name for _, name in choose_columns(COLUMNS, GridUrl())] == [
        "Test ID", "Score", "Test Category", "Execution Time", "Details", "Think",
    ]  # fmt: skip
    assert COLUMNS[-1]["headerName"] == "Rating"


def test_rows_come_page_by_page(services: Services) -> None:
    answer = results.page_of_rows(services, SEARCH, {"startRow": 1, "endRow": 3})
    assert [row["test_id"] for row in answer["rowData"]] == ["sum_002", "sum_003"]
    assert answer["rowCount"] == 4
    [row, _] = answer["rowData"]
    assert (row["score"], row["test_category"], row["execution_time"]) == (0.0, "sums", 1.2)
    assert row["think"] == "default"


def test_sorting_happens_over_all_rows(services: Services) -> None:
    sort = [{"colId": "score", "sort": "desc"}]
    shown = [row["score"] for row in rows(services, sortModel=sort, endRow=2)]
    assert shown == [1.0, 1.0]


@pytest.mark.parametrize("sort", [[{"colId": "nonsense", "sort": "asc"}], [], None])
def test_nonsense_from_the_browser_changes_nothing(services: Services, sort: Any) -> None:
    assert len(rows(services, sortModel=sort, startRow=-5)) == 4


def test_filters_of_the_address_apply(services: Services) -> None:
    assert [row["test_id"] for row in rows(services, f"{SEARCH}&outcome=passed")] == [
        "sum_001",
        "sum_004",
    ]
    assert results.count_note(services, f"{SEARCH}&outcome=passed") == ("2 of 4 results shown.")


def test_an_address_restores_all_filters() -> None:
    query = ModelUrl.read(
        "?llm=a%3Ab%2Fc&class=x&class=y+z&level=2&think=on&outcome=passed&text=two+words&issue=loop"
        "&cause=time_limit&min_score=0&max_score=0.5&min_s=1.5&stale=yes"
    ).query
    assert query.llm_id == "a:b/c"
    assert query.classes == {"x", "y z"}
    assert query.levels == {2}
    assert (query.thinks, query.outcomes) == ({"on"}, {Outcome.PASSED})
    assert (query.text, query.issue) == ("two words", "loop")
    assert (query.causes, query.is_stale) == ({"time_limit"}, True)
    assert (query.scores, query.seconds) == (Range(0.0, 0.5), Range(1.5, None))


def test_an_address_restores_the_order_of_table_and_classes() -> None:
    url = ModelUrl.read("?llm=a&table-sort=-score&by=name&at=3")
    assert url.sort_model == [{"colId": "score", "sort": "desc"}]
    assert url.order.search == "?by=name&at=3"
    assert ModelUrl.read(url.search) == url
    assert url.filters.search == "?llm=a"


@pytest.mark.parametrize(
    "search",
    [
        "",
        "?",
        "?llm=",
        "?level=x&outcome=no",
        "?min_score=-1&max_score=1e9&min_s=nan&at=0",
        "?%ff%00",
        "?" + "a=1&" * 1000,
        "?llm=a&level=-1",
    ],
)
def test_any_address_can_be_read(search: str) -> None:
    query = ModelUrl.read(search).query
    assert query.levels == query.outcomes == frozenset()
    assert query.scores == query.seconds == Range()


def test_the_page_opens_with_the_filters_of_its_address() -> None:
    page = layout(ModelUrl.read("?llm=a%3Ab&class=sums&outcome=passed&test=sum_001"))
    assert of_type(page, "Select")[0].value == "a:b"
    assert of_type(page, "MultiSelect")[0].value == ["sums"]
    stores = {store.id: getattr(store, "data", None) for store in of_type(page, "Store")}
    assert stores["model-selected-store"] == ["sum_001", 1, False]


def test_the_best_model_is_shown_where_the_address_names_none(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [0, 0, 1], "two": [1, 1, 1]})
    assert callbacks.start(services, ModelUrl()) == ModelUrl(llm_id="scripted:two")
    with_class = callbacks.start(services, ModelUrl(classes=("sums",)))
    assert with_class == ModelUrl(llm_id="scripted:two", classes=("sums",))
    page, _ = show_page(services, "/model", "")
    assert of_type(page, "Select")[0].value == "scripted:two"
    page, _ = show_page(services, "/model", "?llm=scripted%3Aone%3Afalse")
    assert of_type(page, "Select")[0].value == "scripted:one"


def test_a_model_without_enough_tests_is_not_the_best(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"few": [1], "all": [1, 0, 0]})
    assert callbacks.find_best(services) == "scripted:all"


def test_where_no_model_has_a_rank_the_first_ranked_is_shown(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1, 1, 0, 0]}, n_tests=8)
    write_results(
        workspace_files.folder,
        {
            "scripted:one": [scored(f"sum_00{n}", 0.0) for n in (1, 2, 3, 4)],
            "scripted:two": [scored(f"sum_00{n}", 1.0) for n in (5, 6, 7, 8)],
        },
    )
    services.refresh()
    ranking = services.results.ranking()
    assert not any(map(ranking.is_comparable, ranking.llm_ids))
    assert callbacks.find_best(services) == ranking.llm_ids[0]


def test_a_model_that_does_not_exist_is_told_and_replaced(services: Services) -> None:
    page, _ = show_page(services, "/model", "?llm=nobody&test=sum_001&level=2")
    shown = text_of(page)
    assert "Unknown model" in shown
    assert "nobody" in shown
    assert "the best" in shown
    stores = {store.id: getattr(store, "data", None) for store in of_type(page, "Store")}
    assert stores["model-query-store"] == "?llm=scripted%3Aone&level=2"
    assert stores["model-selected-store"] is None


def test_all_that_can_be_chosen_is_offered(services: Services) -> None:
    classes, levels, causes, thinks = callbacks.filter_options(services, "scripted:one")
    assert causes == []
    assert [option["value"] for option in classes] == ["sums"]
    assert [option["value"] for option in levels] == ["2", "3", "4", "5"]
    assert [option["value"] for option in thinks] == ["default"]


def test_figures_and_note_describe_the_model(services: Services) -> None:
    shown = text_of(callbacks.tiles(services, SEARCH))
    assert "0.625" in shown
    assert "50.0 %" in shown
    assert "4 tests" in shown
    assert "All results" in shown
    assert callbacks.note(services, "scripted:one").startswith("scripted:one")
    assert callbacks.note(services, "gone") == "gone"
    assert callbacks.tiles(services, "?llm=gone") is None


def test_figures_follow_the_filters_and_say_so(services: Services) -> None:
    shown = text_of(callbacks.tiles(services, f"{SEARCH}&max_score=0.5"))
    assert "Filtered" in shown
    assert "0.250" in shown
    assert "2 tests" in shown
    assert callbacks.tiles(services, f"{SEARCH}&min_score=0.6&max_score=0.9") is None


def test_issues_follow_the_filters(services: Services) -> None:
    assert "score_zero" in offered_issues(services, SEARCH)
    assert "score_zero" not in offered_issues(services, f"{SEARCH}&outcome=passed")


def said(services: Services, llm_id: str) -> tuple[str, bool]:
    content, is_empty = callbacks.state(services, llm_id)
    return text_of(content), is_empty


def test_a_model_that_was_never_run_leads_to_its_run(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("new", ["4"])
    services = services_with(workspace_files, {"one": [1]})
    assert said(services, "scripted:one") == ("", False)
    content, is_empty = callbacks.state(services, "scripted:new")
    assert is_empty
    assert "No results yet scripted:new" in text_of(content)
    assert of_type(content, "Link")[0].href == "/run?llm=scripted%3Anew"


def test_a_disabled_model_is_told_with_results_and_without(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_llm("off", ["4"], enabled=False)
    services = services_with(workspace_files, {"one": [1]})
    text, is_empty = said(services, "scripted:off")
    assert is_empty
    assert "Disabled model" in text
    results = [Result(llm_id="scripted:off", test_id="sum_001", score=1.0)]
    services.files.config().store.add(results, "20260101T000000-a", {})
    text, is_empty = said(services, "scripted:off")
    assert not is_empty
    assert "Runs skip it" in text


def test_only_failures_lead_to_a_retry(workspace_files: WorkspaceFiles) -> None:
    services = hostile(workspace_files, response="[API ERROR] connection refused")
    content, is_empty = callbacks.state(services, "scripted:one")
    assert not is_empty
    assert "1 trial failed to run" in text_of(content)
    assert "connection refused" in text_of(content)
    assert of_type(content, "Link")[0].href == "/run?llm=scripted%3Aone&redo=failed"


def test_only_stale_scores_lead_to_a_new_run(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    results = [
        Result(llm_id="scripted:one", test_id="sum_001", score=1.0, request_fingerprint="other")
    ]
    services.files.config().store.add(results, "20260101T000000-a", {})
    wait_for(lambda: services.results.stale().is_current)
    assert len(rows(services, f"{SEARCH}&stale=yes")) == 1
    tiles = callbacks.tiles(services, SEARCH)
    assert text_of(tiles).lower().count("stale") == 1
    assert of_type(tiles, "Link")[0].href == "/run?llm=scripted%3Aone"
    for filters in ("stale=yes&test=sum_001", "class=sums"):
        [link] = of_type(callbacks.tiles(services, f"{SEARCH}&{filters}"), "Link")
        assert link.href == f"/run?llm=scripted%3Aone&{filters.split('&')[-1]}&redo=again"


def test_reliability_is_told_where_tests_were_tried_several_times(
    services: Services,
) -> None:
    assert "Flip rate" not in text_of(callbacks.tiles(services, SEARCH))
    results = [
        Result(llm_id="scripted:one", test_id=test_id, trial=trial, score=score)
        for test_id, scores in {"sum_001": (1.0, 1.0), "sum_002": (0.0, 1.0)}.items()
        for trial, score in enumerate(scores, start=1)
    ]
    services.files.config().store.add(results, "20260101T000000-a", {})
    shown = text_of(callbacks.tiles(services, SEARCH))
    assert "All of 2 trials pass" in shown
    assert "100.0 %" in shown.partition("One of 2 trials passes")[2]
    assert "Flip rate" in shown
    assert "50.0 %" in shown.partition("Flip rate")[2]
    assert shown.count("2 tests, 95 % CI") == 3


def test_the_chart_follows_the_filters(services: Services) -> None:
    graph, note = callbacks.scores(services, SEARCH, "")
    assert list(graph.figure.data[0].x) == ["sum_001", "sum_002", "sum_003", "sum_004"]
    assert "By test" in note
    nothing, note = callbacks.scores(services, f"{SEARCH}&text=nowhere", "")
    assert "Nothing matches these filters" in str(nothing)
    assert note == ""


def test_many_tests_are_summed_up_by_class_and_level(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1, 0] * 60}, n_tests=120)
    url = ModelUrl.read(SEARCH)
    table = callbacks.summarise_classes(services, url)
    buttons = [button.to_plotly_json()["props"] for button in of_type(table, "Button")]
    places = [each["data-choose-value"] for each in buttons if "heat-cell" in each["className"]]
    levels = sorted({test["level"] for test in workspace_files.tests})
    assert places == ["?class=sums", *(f"?class=sums&level={level}" for level in levels)]
    assert "0.500" in text_of(table)
    assert "120 tests" in text_of(table)
    assert "no score" in text_of(table)
    _, note = callbacks.scores(services, SEARCH, "")
    assert "120 tests" in note


def test_many_classes_come_in_pages_the_lowest_score_first() -> None:
    classes = [summary_of(f"class_{n:03}", n / 200) for n in range(200)]
    first = text_of(build_breakdown(classes, [], ModelUrl()))
    assert "class 000" in first
    assert "1 to 20 of 200 classes" in first
    assert "class 020" not in first
    last = text_of(build_breakdown(classes, [], ModelUrl(by=ClassOrder.HIGHEST, at=999)))
    assert "181 to 200 of 200 classes" in last
    assert "class 000" in last


def summary_of(class_id: str, score: float) -> Summary:
    return Summary(
        group=Group(llm_id="a", class_id=class_id),
        n_tests=3,
        n_scored=3,
        n_failed=0,
        n_passed=1,
        score=Estimate(value=score, low=0.0, high=1.0, n=3),
        strict_score=score,
        pass_rate=None,
    )


def offered_issues(services: Services, search: str) -> list[str]:
    wait_for(lambda: callbacks.issues(services, search)[1])
    shown, _ = callbacks.issues(services, search)
    props = [button.to_plotly_json()["props"] for button in of_type(shown, "Button")]
    return [prop["data-choose-value"] for prop in props]


def test_issues_are_listed_and_can_be_chosen(services: Services) -> None:
    assert "score_zero" in offered_issues(services, SEARCH)
    assert len(rows(services, f"{SEARCH}&issue=score_zero")) == 1
    offered = offered_issues(services, f"{SEARCH}&issue=score_zero")
    assert "" in offered
    assert "score_zero" not in offered
    assert "score zero" in text_of(callbacks.issue_chip("score_zero"))
    assert callbacks.issue_chip("") is None


def test_issues_that_only_all_llms_together_show_are_listed(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {name: [0, 1, 1] for name in ("one", "b", "c")})
    assert "suspicious_test" in offered_issues(services, SEARCH)


def test_a_link_to_one_trial_opens_that_trial() -> None:
    stores = {
        store.id: store for store in of_type(layout(ModelUrl.read("?test=a&trial=3")), "Store")
    }
    assert stores["model-selected-store"].data == ["a", 3, False]
    stores = {
        store.id: store for store in of_type(layout(ModelUrl.read("?test=a&failed=1")), "Store")
    }
    assert stores["model-selected-store"].data == ["a", 1, True]


def test_the_open_trial_is_no_filter() -> None:
    stores = {
        store.id: store
        for store in of_type(layout(ModelUrl.read("?llm=a&level=2&test=t&trial=3")), "Store")
    }
    assert stores["model-query-store"].data == "?llm=a&level=2"


def test_previous_and_next_follow_filters_and_order(services: Services) -> None:
    sort = [{"colId": "score", "sort": "asc"}]
    selected = ["sum_002", 1, False]
    assert results.neighbour(services, SEARCH, sort, selected, 1) == TrialKey(
        "sum_003", 1, is_failure=False
    )
    assert results.neighbour(services, SEARCH, sort, selected, -1) is None
    assert results.neighbour(services, SEARCH, sort, None, 1) is None


def test_the_panel_shows_the_place_in_the_table(services: Services) -> None:
    title, position, is_first, is_last, body, opened, _ = results.build_shown_details(
        services, SEARCH, None, ["sum_004", 1, False]
    )
    assert "sum_004" in text_of(title)
    assert (position, is_first, is_last) == ("4 of 4", False, True)
    assert "Solve: 4 + 4" in text_of(body)
    assert opened == ["sum_004", 1, False, 3]


def test_a_result_that_the_filters_leave_out_stays_open_without_a_place(
    services: Services,
) -> None:
    _, position, is_first, is_last, body, opened, _ = results.build_shown_details(
        services, f"{SEARCH}&outcome=passed", None, ["sum_002", 1, False]
    )
    assert (position, is_first, is_last) == ("", True, True)
    assert body
    assert opened == ["sum_002", 1, False, None]


@pytest.mark.parametrize("selected", [None, [], "x", ["sum_001"], [1, 2, 3], ["gone", 1, False]])
def test_without_a_known_trial_the_panel_is_empty(services: Services, selected: Any) -> None:
    assert results.build_shown_details(services, SEARCH, None, selected)[4:] == ([], None, None)


def test_a_bar_opens_its_test(services: Services) -> None:
    click = {"points": [{"customdata": ["sum_003", "", 0.5, 1]}]}
    opened = results.bar_to_selected(services, SEARCH, click)
    assert read_selected_key(opened) == TrialKey("sum_003", 1, is_failure=False)


def test_expected_and_got_are_compared_and_the_answer_is_marked(
    workspace_files: WorkspaceFiles,
) -> None:
    services = hostile(
        workspace_files,
        response="<think>hm</think>I say 5 here",
        extracted="5",
        expected="4",
        got="5",
        marks=["truncated"],
        finish_reason="length",
    )
    body = results.build_shown_details(services, SEARCH, None, ["sum_001", 1, False])[4]
    assert [mark.children for mark in of_type(body, "Mark")] == ["5"]
    shown = text_of(body)
    assert "Expected 4 Actual 5" in shown
    assert "Thinking (1 words)" in shown or "Thinking (1 word)" in shown
    assert "truncated" in shown


def test_a_failure_is_shown_as_none_of_the_models_doing(workspace_files: WorkspaceFiles) -> None:
    services = hostile(workspace_files, response="[API ERROR] connection refused")
    [row] = rows(services)
    assert row["score"] is None
    assert row["details"].startswith("Failed to run")
    body = results.build_shown_details(services, SEARCH, None, ["sum_001", 1, True])[4]
    assert "connection refused" in text_of(body)
    assert "Pending, not scored." in text_of(body)


def test_a_link_that_does_not_tell_a_failure_from_a_score_opens_what_there_is(
    workspace_files: WorkspaceFiles,
) -> None:
    services = hostile(workspace_files, response="[API ERROR] connection refused")
    shown = results.build_shown_details(services, SEARCH, None, ["sum_001", 1, False])
    assert "connection refused" in text_of(shown[4])
    assert shown[5] == ["sum_001", 1, True, 0]


def test_what_a_model_said_becomes_no_markup_link_or_formula(
    workspace_files: WorkspaceFiles,
) -> None:
    services = hostile(workspace_files, response=ATTACK, details=ATTACK, expected="=1+1")
    [row] = rows(services)
    assert "](" not in row["details"].replace("\\](", "")
    assert "<img" not in row["details"]
    body = results.build_shown_details(services, SEARCH, None, ["sum_001", 1, False])[4]
    assert ATTACK in text_of(of_type(body, "Pre"))
    drawn = json.dumps(still(body))
    assert '["img"' not in drawn
    assert "javascript:" not in [link.href for link in of_type(body, "Link")]
    assert not [each for each in of_type(body, "A") if not each.href.startswith("/")]
    content = results.results_csv(services, SEARCH, None).csv
    [line] = csv.DictReader(io.StringIO(content))
    assert line["Response"] == ATTACK


def test_the_file_holds_all_rows_that_the_filters_find(services: Services) -> None:
    content = results.results_csv(
        services, f"{SEARCH}&outcome=passed", [{"colId": "test_id", "sort": "desc"}]
    ).csv
    lines = list(csv.DictReader(io.StringIO(content)))
    assert [line["Test ID"] for line in lines] == ["sum_004", "sum_001"]
    assert lines[0]["Level"] == "5"
    assert {"Class", "Time (s)"} <= lines[0].keys()


def test_a_link_to_a_result_opens_it(services: Services) -> None:
    search = model_link("scripted:one", text="sum_002", test="sum_002").partition("?")[2]
    assert [row["test_id"] for row in rows(services, f"?{search}")] == ["sum_002"]


def test_several_trials_of_a_test_are_one_bar_with_their_mean(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", ["4"])
    services = services_of(workspace_files.write())
    results = [
        Result(llm_id="scripted:one", test_id="sum_001", trial=trial, score=score)
        for trial, score in ((1, 1.0), (2, 0.0))
    ]
    services.files.config().store.add(results, "20260101T000000-a", {})
    graph, _ = callbacks.scores(services, SEARCH, "")
    assert list(graph.figure.data[0].y) == [0.5]
    assert [row["id"] for row in rows(services)] == ["1ssum_001", "2ssum_001"]


def test_a_trial_without_a_result_opens_as_pending_and_leads_to_its_run(
    workspace_files: WorkspaceFiles,
) -> None:
    expecting = {"evaluation_module": {"parameters": {"expected": "seven"}}}
    workspace_files.add_tests(3, **expecting)
    services = services_with(workspace_files, {"one": [1, 0]}, n_tests=0)
    shown = results.build_shown_details(services, SEARCH, None, ["sum_003", 1, False])
    assert text_of(shown.title).startswith("sum_003")
    [panel] = shown.body
    seen = text_of(panel)
    assert "Pending" in seen
    assert "3 + 3" in seen
    assert "seven" in seen
    links = {link.children: link.href for link in of_type(panel, "Link")}
    assert links["Run"] == "/run?llm=scripted%3Aone&test=sum_003"
    assert (shown.is_first, shown.is_last, shown.place, shown.opened) == (True, True, None, None)


def test_a_link_to_a_failure_opens_the_score_that_came_since(services: Services) -> None:
    shown = results.build_shown_details(services, SEARCH, None, ["sum_001", 1, True])
    assert shown.opened == ["scripted:one", "sum_001", 1, False]

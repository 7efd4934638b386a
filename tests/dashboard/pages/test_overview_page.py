"""The overview: its models, groups, tables and cards."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from dash import no_update
from hypothesis import given
from hypothesis import strategies as st

from poor_bench import metrics
from poor_bench.dashboard.figures.frontier import FrontierPoint
from poor_bench.dashboard.pages.overview import callbacks, layout
from poor_bench.dashboard.pages.overview.cards import changes_card
from poor_bench.dashboard.pages.overview.layout import OverviewUrl, compare_button
from poor_bench.dashboard.pages.overview.tables import (
    COLUMNS,
    FIGURES,
    GROUPINGS,
    TOPS,
    columns_for,
    find_models,
    show_models,
)
from poor_bench.dashboard.url_state import GridUrl
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.scores import average_scores
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import components, of_type, text_of

ATTACK = "<img src=x onerror=alert(1)>"
ASKED_FOR = ["Model", "Total Tests", "Average Score", "Pass Rate (%)",
             "Average Execution Time (s)", "Size (B)"]  # fmt: skip


def test_the_comparison_begins_with_the_columns_asked_for() -> None:
    assert [column["headerName"] for column in COLUMNS[: len(ASKED_FOR)]] == ASKED_FOR


def test_the_size_is_a_column_also_where_no_size_is_known(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    shown = [column["headerName"] for column in columns_for(callbacks.leaderboard_rows(services))]
    assert shown[: len(ASKED_FOR)] == ASKED_FOR


def test_rows_are_ordered_by_score_and_hold_the_figures(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"weak": [0, 0, 1], "strong": [1, 1, 1]})
    rows = callbacks.leaderboard_rows(services)
    assert [row["id"] for row in rows] == ["scripted:strong", "scripted:weak"]
    assert rows[0]["average_score"] == 1.0
    assert rows[0]["pass_rate"] == 100.0
    assert rows[0]["total_tests"] == 3
    assert rows[0]["mean_s"] == 1.2


def test_columns_that_say_nothing_are_left_out(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    shown = {column["field"] for column in columns_for(callbacks.leaderboard_rows(services))}
    assert not {"cost_usd", "judge_cost_usd"} & shown
    assert "failed" not in shown
    assert "average_score" in shown


def test_the_browser_measures_the_height_of_pass_rates_only_where_their_basis_may_wrap(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1], "two": [0]})
    first, second = callbacks.leaderboard_rows(services)

    def measures(rows: list[dict[str, Any]]) -> bool:
        [column] = [each for each in columns_for(rows) if each["field"] == "pass_rate"]
        return bool(column["autoHeight"])

    assert not measures([first, second])
    assert measures([first, second | {"ns": second["ns"] | {"pass_rate": "1,000 tests in groups"}}])


def test_what_judging_cost_stands_apart(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    judged = scored("sum_001", 1.0, cost_usd=0.5, judgement={"judge": "j", "cost_usd": 0.25})
    write_results(services.files.config().data_dir, {"scripted:one": [judged]})
    [row] = callbacks.leaderboard_rows(services)
    assert (row["cost_usd"], row["judge_cost_usd"]) == (0.5, 0.25)


def test_before_the_first_run_the_page_says_what_to_do(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    services = services_of(workspace_files.write())
    part, is_empty = callbacks.nothing_yet(services)
    assert is_empty
    assert "No results yet" in text_of(part)
    assert [link.href for link in of_type(part, "Link")] == ["/run"]
    assert callbacks.note(services).startswith("0 trials")


def test_cells_lead_to_the_results_behind_them(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1, 0.5, 0]})
    cells = [
        link for link in of_type(callbacks.scores_by_class(services, ""), "Link")
        if "heat-cell" in (getattr(link, "className", None) or "")
    ]  # fmt: skip
    [cell] = cells
    assert text_of(cell) == "0.50 3 tests"
    assert cell.href == "/model?llm=scripted%3Aone&class=sums"
    by_level = of_type(callbacks.scores_by_class(services, "?heat-map=levels"), "Link")
    assert any(link.href.endswith("class=sums&level=2") for link in by_level)


def test_an_llm_that_never_ran_in_a_class_has_an_empty_cell(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.classes.append({**workspace_files.classes[0], "id": "others"})
    workspace_files.add_tests(1, class_id="others")
    services = services_with(workspace_files, {"one": [1, 1], "two": [1]})
    [table] = of_type(callbacks.scores_by_class(services, ""), "Tbody")
    empty = [
        part for part in components(table)
        if "is-empty" in (getattr(part, "className", None) or "")
    ]  # fmt: skip
    assert [text_of(part) for part in empty] == ["n/a pending"]


def test_charts_say_what_is_missing(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"one": [1]})
    by_size, by_time = callbacks.charts(services)
    assert 'Add "size"' in text_of(by_size)
    assert of_type(by_time, "Graph")


def test_charts_count_others_that_are_not_comparable(workspace_files: WorkspaceFiles) -> None:
    full = {f"m{number:02}": [1, 1, 1] for number in range(10)}
    services = services_with(workspace_files, full | {"x": [0], "y": [0]})
    _, by_time = callbacks.charts(services, "?top=10")
    assert "2 models excluded: not comparable." in text_of(by_time)


def test_charts_can_be_exported_and_read_by_screen_readers() -> None:
    point = FrontierPoint(
        llm_id="a:b", name="a:b", x=2.0, score=Estimate(value=0.5, low=0.4, high=0.6, n=9)
    )
    chart, _ = layout.charts([point], [])
    assert [getattr(button, "aria-label") for button in of_type(chart, "Button")] == [
        "Download Score against size as PNG",
        "Download Score against size as SVG",
    ]
    [frame] = [part for part in of_type(chart, "Div") if getattr(part, "role", None) == "figure"]
    assert "a:b: 0.50 (9 tests) at 2" in getattr(frame, "aria-label")


def test_tables_are_files_too(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"=weak": [0, 1], "strong": [1, 1]})
    rows = list(csv.DictReader(io.StringIO(callbacks.leaderboard_csv(services).csv)))
    assert [row["Model ID"] for row in rows] == ["scripted:strong", "scripted:=weak"]
    assert rows[1]["Score"] == "0.5"
    assert rows[1]["Tests"] == "2"
    assert float(rows[1]["Score 95 % CI low"]) < 0.5 < float(rows[1]["Score 95 % CI high"])
    rows = list(csv.DictReader(io.StringIO(callbacks.heat_map_csv(services).csv)))
    assert {row["Class"] for row in rows} == {"sums"}


def test_headings_of_files_name_the_unit_of_every_time() -> None:
    times = [metric for metric in FIGURES.values() if metric.unit == "ms"]
    assert all(metric.file_heading.endswith(" (s)") for metric in times)
    assert metrics.FIRST_TOKEN in times


def test_the_file_of_models_is_what_the_table_shows(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"weak": [0, 1], "strong": [1, 1]})
    view = GridUrl(sort="average_score", columns="pass_rate,total_tests").search
    file = callbacks.leaderboard_csv(services, "", view)
    assert [heading for _, heading in file.columns][1:] == ["Model", "Pass rate (%)", "Tests"]
    assert [row["id"] for row in file.rows] == ["scripted:weak", "scripted:strong"]


def test_what_the_last_run_broke_is_shown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    store = services.files.config().store
    for run_id, score in (("20260101T000000-a", 1.0), ("20260102T000000-b", 0.0)):
        store.add([Result(llm_id="scripted:one", test_id="sum_001", score=score)], run_id, {})
    shown = callbacks.changes(services)
    assert "1 broken" in text_of(shown)
    assert any("test=sum_001" in link.href for link in of_type(shown, "Link"))


def test_a_run_that_changed_nothing_says_so(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    for run_id in ("20260101T000000-a", "20260102T000000-b"):
        result = Result(llm_id="scripted:one", test_id="sum_001", score=1.0)
        services.files.config().store.add([result], run_id, {})
    assert "No score changed" in text_of(callbacks.changes(services))


def test_hostile_names_stay_text(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {f"a:{ATTACK}": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    shown = callbacks.scores_by_class(services, "")
    assert ATTACK in text_of(shown)
    assert all(link.href.startswith("/model?") for link in of_type(shown, "Link"))


def test_what_a_changed_parameter_did_stands_in_the_last_run(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    for run_id, score, asked in (("20260101T000000-a", 1.0, "x"), ("20260102T000000-b", 0.0, "y")):
        result = Result(
            llm_id="scripted:one", test_id="sum_001", score=score, request_fingerprint=asked
        )
        services.files.config().store.add([result], run_id, {})
    last_run = services.last_run.changes()
    assert last_run is not None
    shown = text_of(changes_card(last_run, lambda llm_id: llm_id))
    assert "Run 20260102T000000-b: 1 result compared." in shown
    assert "-1.000" in shown
    assert "1 broken:" in shown
    assert "sum_001" in shown
    assert "parameters changed" in shown


NAMES = ("qwen3:8b-q4_K_M", "gemma3:1b", "qwen3:8b-fp16", "granite3.3:2b")
LLMS = {
    f"ollama:{name}": LLM(id=f"ollama:{name}", provider="ollama", name=name, size=size)
    for name, size in zip(NAMES, (8.0, 1.0, 8.0, None), strict=True)
}


def test_variants_of_a_base_model_stand_together_in_the_order_of_their_best() -> None:
    shown = show_models(list(LLMS), "base", "", LLMS)
    assert [(name, len(found)) for name, found in shown.groups] == [
        ("qwen3:8b", 2),
        ("gemma3:1b", 1),
        ("granite3.3:2b", 1),
    ]


def test_sizes_and_providers_are_groups_also_of_removed_models() -> None:
    shown = show_models([*LLMS, "openai:gone"], "size", "", LLMS)
    assert shown.group_of["openai:gone"] == "size unknown"
    assert shown.group_of["ollama:gemma3:1b"] == "1 to 4 B"
    by_provider = show_models([*LLMS, "openai:gone"], "provider", "", LLMS)
    assert [name for name, _ in by_provider.groups] == ["ollama", "openai"]


def test_the_comparison_counts_the_others_and_leads_to_all(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {f"m{number:02}": [1, 0] for number in range(13)})
    found = callbacks.leaderboard(services, "?top=10&text=m", "?table-sort=-size")
    assert len(of_type(found.draw(GridUrl()), "AgGrid")[0].rowData) == 10
    assert "3 others" in text_of(found.notes())
    [link] = [each for each in of_type(found.notes(), "Link") if each.children == "Show all"]
    shown = OverviewUrl.read(link.href.removeprefix("/"))
    assert (shown.top, shown.text) == ("all", "m")
    assert "table-sort=-size" in link.href
    assert len(callbacks.leaderboard_rows(services, shown)) == 13
    assert callbacks.leaderboard_csv(services, "?top=10").csv.count("scripted:m") == 26


def test_a_search_changes_the_rows_and_news_draw_the_table_anew(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"one": [1, 0], "two": [0, 0]})
    table, rows, _, frame = callbacks.show_leaderboard(services, "", "", None)
    assert len(of_type(table, "AgGrid")[0].rowData) == 2
    assert rows is no_update
    table, rows, _, same = callbacks.show_leaderboard(services, "?text=two", "", frame)
    assert table is no_update
    assert [row["id"] for row in rows] == ["scripted:two"]
    assert same == frame
    grouped, rows, _, other = callbacks.show_leaderboard(services, "?group=provider", "", frame)
    assert (of_type(grouped, "AgGrid") != [], rows, other == frame) == (True, no_update, False)
    folder = services.files.config().data_dir
    write_results(
        folder, {"scripted:one": [scored("t1", 1.0)], "scripted:two": [scored("t1", 1.0)]}
    )
    services.refresh()
    table, rows, _, newer = callbacks.show_leaderboard(services, "?text=two", "", frame)
    assert (of_type(table, "AgGrid") != [], rows, newer == frame) == (True, no_update, False)


def test_many_models_leave_others_and_one_never_does() -> None:
    many = [f"a:{number}" for number in range(30)]
    assert len(show_models(many, "", "", {}).others) == 10
    assert len(show_models(many, "", "10", {}).others) == 20
    assert show_models(many, "", "all", {}).others == ()
    assert show_models(many[:21], "", "", {}).others == ()


@given(
    st.lists(st.text(max_size=8), unique=True, max_size=40),
    st.sampled_from([*GROUPINGS, "x"]),
    st.sampled_from([*TOPS, "-3", "x"]),
)
def test_every_model_is_shown_once_or_among_the_others(
    llm_ids: list[str], grouping: str, top: str
) -> None:
    shown = show_models(llm_ids, grouping, top, LLMS)
    assert sorted([*shown.llm_ids, *shown.others]) == sorted(llm_ids)


def test_what_a_model_was_not_asked_is_pending_and_a_link_away(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.classes.append(workspace_files.classes[0] | {"id": "others"})
    workspace_files.add_tests(1)
    workspace_files.add_tests(1, class_id="others")
    for name in ("all", "half", "new", "off"):
        workspace_files.add_llm(name, ["4"], enabled=name != "off")
    folder = workspace_files.write()
    both = [scored(test["test_id"], 1.0) for test in workspace_files.tests]
    write_results(folder, {"scripted:all": both, "scripted:half": both[:1]})
    services = services_of(folder)
    _, half = of_type(callbacks.scores_by_class(services, ""), "Tbody")[0].children
    assert "pending" in text_of(half)
    assert "Re-run these" in text_of(half)
    told = of_type(callbacks.leaderboard(services).notes(), "P")
    assert "No results: scripted:new  Run tests" in [text_of(each) for each in told]


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_a_grouping_adds_its_column(workspace_files: WorkspaceFiles, grouping: str) -> None:
    services = services_with(workspace_files, {"one": [1], "two": [0]})
    table = callbacks.leaderboard(services, f"?group={grouping}").draw(GridUrl())
    [grid] = of_type(table, "AgGrid")
    headings = [column["headerName"] for column in grid.columnDefs]
    assert ("Group" in headings) == bool(grouping)


@pytest.mark.parametrize(
    ("text", "n"), [("", 4), ("QWEN3", 2), ("8b fp16", 1), ("ollama", 4), ("nothing", 0)]
)
def test_models_are_found_by_words_of_their_names(text: str, n: int) -> None:
    assert len(find_models(list(LLMS), text, str)) == n


def test_others_have_a_mean_over_those_with_a_score() -> None:
    scores = [Estimate(value=value, low=0.0, high=1.0, n=5) for value in (0.2, 0.6)]
    found = average_scores(scores)
    assert found is not None
    assert (round(found.mean, 6), found.n, found.lowest, found.highest) == (0.4, 2, 0.2, 0.6)
    assert average_scores([]) is None


def test_two_ticked_models_can_be_compared() -> None:
    assert getattr(compare_button(["a:b"]), "href", None) is None
    assert compare_button(["a:b", "c:d"]).href == "/compare?llm=a%3Ab&llm=c%3Ad"


def test_another_filter_begins_at_the_first_columns() -> None:
    url = OverviewUrl.read("?class-page=3&group=size")
    assert url.column_page == 3
    assert url.change(text="x").column_page == 1
    assert url.change(column_page=4).column_page == 4

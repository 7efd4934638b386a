from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poor_bench.dashboard.pages.compare import callbacks
from poor_bench.dashboard.pages.compare.charts import class_map, list_shown_classes
from poor_bench.dashboard.pages.compare.layout import CompareUrl
from poor_bench.dashboard.pages.compare.tests import choose_page_size
from poor_bench.dashboard.services import compare_service
from poor_bench.dashboard.services.compare_service import ClassScore
from poor_bench.dashboard.services.services import Services
from poor_bench.models.failure import WAITS_FOR_JUDGE
from poor_bench.models.result import Result
from poor_bench.results.grid import CHANGES, Show, TrialGrid
from poor_bench.statistics.comparison import Comparison, compare_llms
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import components, of_type, text_of
from tests.waiting import MOST_S, wait_for

GOOD, FAIR, BAD = "scripted:good", "scripted:fair", "scripted:bad"


def three_llms(files: WorkspaceFiles) -> Services:
    scores = {"bad": [0, 0, 0, 0], "good": [1, 1, 1, 1], "fair": [1, 0, 1, 1]}
    return services_with(files, scores, n_tests=4)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Three LLMs with results, for tests that only read."""
    return three_llms(WorkspaceFiles(tmp_path_factory.mktemp("compared")))


def listed(services: Services, search: str) -> list[str]:
    view = callbacks.open_view(services, search)
    return [row.test_id for part in view.all_tests() for row in part]


def test_without_a_choice_the_best_are_compared_with_the_very_best(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    view = callbacks.open_view(services, "")
    assert view.columns == (GOOD, FAIR, BAD)


def test_the_base_comes_first_and_unknown_llms_are_left_out() -> None:
    selection = CompareUrl.read("?llm=a&llm=b&llm=gone&base=b")
    assert selection.columns(["a", "b", "c"]) == ("b", "a")


def test_a_lone_model_has_no_tie_group(compared: Services) -> None:
    def letters(search: str) -> list[str]:
        view = callbacks.open_view(compared, search)
        wait_for(lambda: view.comparison().is_current)
        return [line.letters for line in view.strip_lines(view.comparison().value)]

    assert letters(f"?llm={GOOD}") == [""]
    assert all(letters(f"?llm={GOOD}&llm={BAD}"))


def test_filters_of_one_window_do_not_wait_for_those_of_another(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = three_llms(workspace_files)
    gate, held, read_lines = threading.Event(), threading.Event(), services.compare.lines

    def hold_searches(grid: TrialGrid, text: str) -> NDArray[np.int64]:
        if text:
            held.set()
            assert gate.wait(MOST_S)
        return read_lines(grid, text)

    monkeypatch.setattr(services.compare, "lines", hold_searches)
    searching = threading.Thread(
        target=callbacks.show_tests, args=(services, CompareUrl(text="sum").search)
    )
    other = threading.Thread(target=callbacks.show_tests, args=(services, ""), daemon=True)
    searching.start()
    assert held.wait(MOST_S)
    other.start()
    try:
        wait_for(lambda: not other.is_alive())
    finally:
        gate.set()
        searching.join()


def test_a_model_without_results_is_named(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    note, *_ = callbacks.show_strip(services, f"?llm={GOOD}&llm=scripted:new")
    assert note == f"1 model, baseline: {GOOD}. No results: scripted:new"


def test_differences_are_told_from_the_side_of_the_other_llm(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    wait_for(lambda: callbacks.show_strip(services, f"?base={BAD}")[2])
    _, table, _ = callbacks.show_strip(services, f"?base={BAD}&llm={BAD}&llm={GOOD}")
    assert "+1.000" in text_of(table)
    assert "4 / 0 / 0" in text_of(table)


@pytest.mark.parametrize(
    ("search", "tests"),
    [
        ("?show=all", ["sum_001", "sum_002", "sum_003", "sum_004"]),
        ("?show=regressions", ["sum_002"]),
        ("?show=ties", ["sum_001", "sum_003", "sum_004"]),
        ("?show=improvements", []),
        ("?show=differences&level=1", []),
        ("?level=3&level=2", ["sum_001", "sum_002"]),
        ("?text=SUM_003", ["sum_003"]),
        ("?text=i+say", ["sum_002"]),
        ("?order=drop", ["sum_002", "sum_001", "sum_003", "sum_004"]),
        ("?order=-difference&order-of=scripted:fair", ["sum_001", "sum_003", "sum_004", "sum_002"]),
        ("?order=-test", ["sum_004", "sum_003", "sum_002", "sum_001"]),
        ("?order=score", ["sum_002", "sum_001", "sum_003", "sum_004"]),
        ("?order=nonsense", ["sum_001", "sum_002", "sum_003", "sum_004"]),
        ("?text=class:sum", ["sum_001", "sum_002", "sum_003", "sum_004"]),
        ("?text=class:product", []),
        ("?text=class=SUMS", ["sum_001", "sum_002", "sum_003", "sum_004"]),
        ("?text=class=su", []),
        ("?class=none", []),
        ("?text=/^i+SAY+%5Cd/", ["sum_002"]),
        ("?text=score<0.5", ["sum_002"]),
        ("?text=difference<0+level>=2", ["sum_002"]),
        ("?text=latency>5", []),
        ("?text=latency<5s+level:3", ["sum_002"]),
    ],
)
def test_filters_and_order_of_the_tests(compared: Services, search: str, tests: list[str]) -> None:
    assert listed(compared, f"{search}&llm={GOOD}&llm={FAIR}") == tests


def test_trials_that_answered_alike_stand_once_with_their_number(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    trials = [scored("sum_001", 1.0, text, trial=n) for n, text in enumerate("4454", start=1)]
    trials[2]["score"] = 0.0
    write_results(folder, {"a:b": trials, "c:d": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    _, chips, tests = callbacks.show_tests(services, "?show=unstable")
    assert "3x 4 1x 5" in text_of(tests)
    assert "Unstable 1" in text_of(chips)


def test_a_failure_is_shown_as_such_and_not_as_a_score(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    failed = scored("sum_001", 0.0, "[API ERROR] server is gone")
    write_results(folder, {"a:b": [failed], "c:d": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    search = "?show=failed"
    *_, tests = callbacks.show_tests(services, search)
    assert text_of(tests).count("failed") == 1
    assert "- failed" in text_of(tests)
    assert "server is gone" in text_of(tests)
    store = services.files.config().store
    store.add(
        [Result(llm_id="a:b", test_id="sum_001", failure=WAITS_FOR_JUDGE)], "20260101T0-a", {}
    )
    assert listed(services, search) == []


def test_the_time_of_a_failed_trial_is_no_latency_of_the_model(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    failed = scored("sum_001", 0.0, "[API ERROR] gone", execution_time_ms=60_000.0)
    write_results(folder, {"a:b": [failed, scored("sum_001", 1.0, trial=2)]})
    assert listed(services_of(folder), "?text=latency>5") == []


def test_the_panel_compares_json_field_by_field(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    folder = workspace_files.write()
    write_results(
        folder,
        {
            "a:b": [scored("sum_001", 1.0, '{"answer": 4, "unit": "m"}')],
            "c:d": [scored("sum_001", 0.0, '```json\n{"answer": 5, "unit": "m"}\n```')],
        },
    )
    services = services_of(folder)
    shown = callbacks.show_panel(services, "?test=sum_001")[0]
    assert "1 different field, 1 equal field" in text_of(shown)
    assert text_of(of_type(shown, "Table")) == "answer 4 5 +1"


def test_the_panel_steps_through_the_listed_tests_only(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    search = f"?llm={GOOD}&llm={FAIR}&show=ties&test=sum_003"
    shown = callbacks.show_panel(services, search)[0]
    keys = {
        link.to_plotly_json()["props"].get("data-key"): link.href for link in of_type(shown, "A")
    }
    assert CompareUrl.read(keys["previous"]).test == "sum_001"
    assert CompareUrl.read(keys["next"]).test == "sum_004"
    assert CompareUrl.read(keys["escape"]).test == ""


def test_what_an_llm_said_stays_text(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    attack = "<script>alert(1)</script> [a](javascript:alert(1))"
    results = {name: [scored("sum_001", 0.0, attack, details=attack)] for name in ("a:b", "c:d")}
    write_results(folder, results)
    services = services_of(folder)
    shown = callbacks.show_panel(services, "?test=sum_001")[0]
    assert text_of(shown).count("<script>alert(1)</script>") >= 2
    drawn = [part.to_plotly_json() for part in components(shown)]
    assert {"Script", "Markdown"}.isdisjoint(each["type"] for each in drawn)
    assert not any("javascript" in str(each["props"].get("href")) for each in drawn)


def test_bars_of_charts_filter_the_tests_and_the_other_charts(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    charts, _, tests = callbacks.show_tests(services, f"?llm={GOOD}&llm={FAIR}")
    [loss] = [
        link
        for link in of_type(charts, "A")
        if text_of(link).startswith(CHANGES[0]) and "facet-row" in getattr(link, "className", "")
    ]
    charts, _, tests = callbacks.show_tests(services, loss.href)
    assert [test.children for test in of_type(of_type(tests, "Ol"), "A")] == ["sum_002"]
    bars = [link for link in of_type(charts, "A") if "facet-row" in link.className]
    by_name = {text_of(bar): dict(bar.to_plotly_json()["props"]) for bar in bars}
    assert by_name[f"{CHANGES[0]} 1"]["aria-current"] == "true"
    assert f"{CHANGES[2]} 3" in by_name  # a chart does not filter itself


def test_a_typed_cause_finds_the_tests_that_lost_score_for_it(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    folder = workspace_files.write()
    lost = scored("sum_002", 0.0, cause="wrong_answer")
    write_results(folder, {"a:b": [scored("sum_001", 1.0), lost]})
    services = services_of(folder)
    assert listed(services, "?text=cause:WRONG") == ["sum_002"]
    assert listed(services, "?text=cause:late") == []
    charts, *_ = callbacks.show_tests(services, "?cause=wrong_answer")
    assert "wrong answer 1" in text_of(charts)


def test_tests_that_were_asked_otherwise_are_marked_and_can_be_left_out(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", ["4"])
    folder = workspace_files.write()
    known = [test["test_id"] for test in workspace_files.tests]
    codes = {"20260101T000000-a": ("00000000000000aa",) * 3,
             "20260102T000000-b": ("00000000000000aa", "00000000000000bb", "")}  # fmt: skip
    for run_id, requests in codes.items():
        results = [
            Result(llm_id="scripted:one", test_id=test_id, score=1.0, response="4", run_id=run_id,
                   request_fingerprint=request, evaluator_fingerprint="00000000000000ee")
            for test_id, request in zip(known, requests, strict=True)
        ]  # fmt: skip
        header = {"llms": {"scripted:one": 3}}
        WorkspaceFolder(folder).store.add(results, run_id, header)
    services = services_of(folder)
    search = "?" + "&".join(f"llm=scripted:one@run:{run_id}" for run_id in codes)
    _, chips, tests = callbacks.show_tests(services, search)
    assert "All 3 Same 1" in text_of(chips)
    assert "1 asked differently" in text_of(chips)
    assert "1 not known" in text_of(chips)
    assert text_of(tests).count("asked differently") == 1
    assert "run 2026-01-02 00:00:00" in text_of(tests)
    assert "scripted:one," not in text_of(tests)  # all are runs of one model
    assert listed(services, f"{search}&alike=yes") == [known[0]]
    wait_for(lambda: callbacks.show_strip(services, f"{search}&alike=yes")[2])
    assert "n = 1" in text_of(callbacks.show_strip(services, f"{search}&alike=yes")[1])
    wait_for(lambda: services.results.stale().is_current)
    beside_runs = callbacks.show_strip(services, f"{search}&llm=scripted:one")[1]
    assert "3 stale" in text_of(beside_runs)


def test_a_run_of_some_tests_says_how_many_it_covers(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("one", ["4"])
    folder = workspace_files.write()
    known = [test["test_id"] for test in workspace_files.tests]
    for run_id, test_ids in {"20260101T000000-a": known, "20260102T000000-b": known[:2]}.items():
        results = [
            Result(llm_id="scripted:one", test_id=test_id, score=1.0, response="4", run_id=run_id)
            for test_id in test_ids
        ]
        header = {"llms": {"scripted:one": len(results)}}
        WorkspaceFolder(folder).store.add(results, run_id, header)
    services = services_of(folder)
    whole, part = (
        "llm=scripted:one@run:20260101T000000-a",
        "llm=scripted:one@run:20260102T000000-b",
    )
    assert "of 3 tests" not in text_of(callbacks.show_strip(services, f"?{whole}")[1])
    assert "2 of 3 tests" in text_of(callbacks.show_strip(services, f"?{whole}&{part}")[1])
    assert "2 of 3 tests" in text_of(callbacks.show_classes(services, f"?{whole}&{part}"))


def test_the_whole_state_survives_the_address() -> None:
    selection = CompareUrl(
        llm_ids=("a:b", "c/d"),
        base="c/d",
        show=Show.REGRESSIONS,
        classes=("sums",),
        levels=(1, 2),
        text="50 % & more",
        order="-score",
        order_of="c/d",
        page=3,
        test="t",
        left="a:b",
        right="c/d",
        class_page=2,
    )
    assert CompareUrl.read(selection.search) == selection


def test_a_page_holds_fewer_tests_where_each_has_many_answers() -> None:
    sizes = [choose_page_size(n_subjects) for n_subjects in (1, 4, 5, 10, 50)]
    assert sizes == [25, 25, 20, 10, 10]


def test_another_filter_begins_at_the_first_page() -> None:
    selection = CompareUrl(page=3)
    assert selection.change(show=Show.TIES).page == 1
    assert selection.change(test="t").page == 3


def test_nonsense_in_the_address_is_ignored() -> None:
    assert CompareUrl.read("?show=x&page=-1&level=a&base=gone") == CompareUrl(base="gone")


def test_without_results_the_page_leads_to_the_first_run(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    _, shown, is_current = callbacks.show_strip(services, "")
    assert is_current
    assert [link.href for link in of_type(shown, "Link")] == ["/run"]


def test_csv_holds_what_is_compared(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    wait_for(lambda: callbacks.show_strip(services, "")[2])
    strip = callbacks.strip_csv(services, "")
    assert strip is not None
    assert strip.rows[0] == strip.rows[0] | {"Model": GOOD, "Score": 1.0, "Tests": 4}
    assert strip.rows[1]["Common tests"] == 4
    tests = callbacks.tests_csv(services, f"?llm={GOOD}&llm={FAIR}&show=regressions")
    assert tests is not None
    [row] = tests.rows
    assert row == row | {
        "Test ID": "sum_002", "Class": "sums", "Level": 3, f"{GOOD}: score": 1.0,
        f"{FAIR}: score": 0.0, f"{FAIR}: trials": 1, f"{FAIR}: difference": -1.0,
        f"{FAIR}: answers": "I say 5", f"{GOOD}: latency (s)": 1.2,
    }  # fmt: skip
    classes = callbacks.classes_csv(services, f"?llm={GOOD}&llm={FAIR}")
    assert classes is not None
    assert [(row["score"], row["n"]) for row in classes.rows] == [(1.0, 4), (0.75, 4)]


def test_csv_waits_for_the_differences_and_holds_up_nothing_else(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, gate, is_begun = three_llms(workspace_files), threading.Event(), threading.Event()

    def compare(*trials: Any, **options: Any) -> Comparison:
        is_begun.set()
        assert gate.wait(MOST_S)
        return compare_llms(*trials, **options)

    monkeypatch.setattr(compare_service, "compare_llms", compare)
    with ThreadPoolExecutor(1) as threads:
        file = threads.submit(callbacks.strip_csv, services, "")
        assert is_begun.wait(MOST_S)
        _, shown, is_current = callbacks.show_strip(services, "")
        assert "computing ..." in text_of(shown)
        assert not is_current
        assert not file.done()
        gate.set()
        found = file.result(MOST_S)
    assert found is not None
    assert [row["Difference"] for row in found.rows] == [None, -0.25, -1.0]


def test_the_reader_chooses_what_the_list_and_its_file_hold(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    search = f"?llm={GOOD}&llm={FAIR}&text=sum_002&table=tests~~test.score"
    *_, tests = callbacks.show_tests(services, search)
    assert "I say 5" not in text_of(tests)
    file = callbacks.tests_csv(services, search)
    assert file is not None
    assert [heading for _, heading in file.columns] == [
        "Test ID", f"{GOOD}: score", f"{GOOD}: trials", f"{FAIR}: score", f"{FAIR}: trials",
    ]  # fmt: skip


def test_counts_of_one_are_singular(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"good": [1], "bad": [0]}, n_tests=1)
    wait_for(lambda: callbacks.show_strip(services, "")[2])
    note, strip, _ = callbacks.show_strip(services, "")
    assert note == f"2 models, baseline: {GOOD}"
    titles = [str(getattr(part, "title", "")) for part in components(strip)]
    [told] = [title for title in titles if "corrected p" in title]
    assert "1 common test, " in told
    assert "not significant" in text_of(strip)


def test_an_invalid_pattern_gets_one_message_and_keeps_the_page(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    *_, tests = callbacks.show_tests(services, "?text=/(/")
    assert "/(/ is not a regular expression" in text_of(tests)
    assert text_of(callbacks.show_classes(services, "?text=/(/"))
    assert callbacks.show_panel(services, "?text=/(/&test=sum_001") == (None, None)


def test_matches_are_marked(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    *_, tests = callbacks.show_tests(services, "?text=/say+%5Cd/")
    assert {mark.children for mark in of_type(tests, "Mark")} == {"say 5"}


def test_matches_are_marked_in_opened_answers_too(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    shown, _ = callbacks.show_panel(services, f"?text=say&test=sum_002&llm={GOOD}&llm={FAIR}")
    assert [mark.children for mark in of_type(shown, "Mark")] == ["say"]


def test_answers_stand_side_by_side_and_scroll_together_until_told_otherwise(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)

    def groups(search: str) -> list[str]:
        shown = components(callbacks.show_panel(services, search)[0])
        props = (part.to_plotly_json()["props"] for part in shown)
        return [each["data-scroll-group"] for each in props if "data-scroll-group" in each]

    assert groups("?test=sum_001") == ["answers"]
    assert groups("?test=sum_001&apart=yes") == [""]


def test_a_model_without_a_result_and_one_whose_test_changed_are_marked(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    for name in ("a", "b"):
        workspace_files.add_llm(name, ["4"])
    workspace_files.classes.append(workspace_files.classes[0] | {"id": "unasked"})
    workspace_files.tests[2]["class_id"] = "unasked"
    folder = workspace_files.write()
    changed = scored("sum_001", 1.0, request_fingerprint="of another prompt")
    all_of_them = [scored(f"sum_00{number}", 1.0) for number in (1, 2, 3)]
    write_results(folder, {"scripted:a": all_of_them, "scripted:b": [changed]})
    services = services_of(folder)
    wait_for(lambda: services.results.stale().is_current)
    *_, tests = callbacks.show_tests(services, "?llm=scripted:a&llm=scripted:b")

    def badges(shown: object) -> list[str]:
        spans = of_type(shown, "Span")
        named = [span for span in spans if "trust-badge " in str(getattr(span, "className", ""))]
        return [text_of(badge) for badge in named]

    assert badges(tests) == ["stale", "pending", "pending"]
    assert badges(callbacks.show_panel(services, "?test=sum_001")[0]) == ["stale"]
    assert badges(callbacks.show_panel(services, "?test=sum_003")[0]) == ["pending"]
    classes = callbacks.show_classes(services, "?llm=scripted:a&llm=scripted:b")
    assert "1 of 2 tests" in text_of(classes)
    assert "n/a pending" in text_of(classes)


def test_the_answer_of_one_model_is_chosen_to_be_rated(workspace_files: WorkspaceFiles) -> None:
    services = three_llms(workspace_files)
    assert callbacks.show_panel(services, "?test=sum_002")[1] is None
    chosen = f"?test=sum_002&rated={FAIR}"
    assert callbacks.show_panel(services, chosen)[1] == [FAIR, "sum_002", 1, False]
    assert callbacks.show_panel(services, f"{chosen}&llm={GOOD}")[1] is None


def test_a_class_that_is_not_chosen_is_neither_on_screen_nor_in_the_file(
    workspace_files: WorkspaceFiles,
) -> None:
    services = three_llms(workspace_files)
    classes = callbacks.show_classes(services, "")
    [tick] = [link for link in of_type(classes, "A") if link.className == "column-tick"]
    assert "sums" in text_of(of_type(classes, "Table"))
    without = callbacks.show_classes(services, tick.href)
    assert "sums" not in text_of(of_type(without, "Table"))
    assert "good" in text_of(of_type(without, "Table"))
    file = callbacks.classes_csv(services, tick.href)
    assert file is not None
    assert not file.rows


def test_many_classes_stand_on_pages_and_all_in_the_file() -> None:
    scores = {
        f"class {n:02}": [ClassScore(score=0.5, n=1, against_base=None)] for n in range(1, 31)
    }
    told = text_of(class_map(scores, ["good"], CompareUrl(class_page=2), {}))
    assert "class 24" not in told
    assert "class 25" in told
    assert "25 to 30 of 30" in told
    beyond = text_of(class_map(scores, ["good"], CompareUrl(class_page=9), {}))
    assert beyond == told
    one_column = CompareUrl.read("?table=classes:,%3Dclass 25")
    assert list_shown_classes(scores, one_column) == list(scores)

from __future__ import annotations

import json
import re

import pytest
from dash import no_update

from poor_bench.dashboard.components.tables import still
from poor_bench.dashboard.figures.scores import item_scatter_figure
from poor_bench.dashboard.pages.tests import callbacks, panel
from poor_bench.dashboard.pages.tests.callbacks import (
    apply_edit,
    classes_csv,
    list_found_tests,
    tell_edit,
    undo_edit,
)
from poor_bench.dashboard.pages.tests.filters import KnownTests, find_tests
from poor_bench.dashboard.pages.tests.layout import TestUrl
from poor_bench.dashboard.pages.tests.panel import form_to_changes
from poor_bench.dashboard.pages.tests.tables import build_test_table
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.services.test_findings import TestFinding
from poor_bench.errors import ConfigError
from poor_bench.issues.detector import IssueSeverity
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.item_response import ItemParameters
from poor_bench.statistics.items import Item
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of, services_with
from tests.dashboard.seen_text import of_type, text_of
from tests.waiting import wait_for


def finished(services: Services) -> Services:
    wait_for(lambda: callbacks.show(services, "")[-1])
    return services


def test_tests_stand_with_their_scores_and_what_speaks_against_them(
    workspace_files: WorkspaceFiles,
) -> None:
    scores = {name: [1, 0, *[1] * 28] for name in "abcdef"}
    services = services_with(workspace_files, scores, 30)
    finished(services)
    note, classes, groups, _, listed, _ = callbacks.show(services, "")
    assert note == "30 tests in 1 class"
    assert "sums 30" in text_of(classes)
    assert text_of(listed).count("nobody passes") == 1
    assert "Models fail alike" in text_of(groups) or "No model passes" in text_of(groups)
    assert [test.test_id for test in list_found_tests(services, "?text=3+%2B+3")] == ["sum_003"]


def test_the_picture_says_how_many_models_it_needs(workspace_files: WorkspaceFiles) -> None:
    services = finished(services_with(workspace_files, {name: [1, 0] for name in "ab"}))
    assert "Needs 20 different models, not 2" in text_of(callbacks.show_picture(services, None)[0])


def test_a_point_of_the_picture_opens_its_test(workspace_files: WorkspaceFiles) -> None:
    scores = {f"m{n}": [int(n > place) for place in range(0, 24, 3)] for n in range(24)}
    services = finished(services_with(workspace_files, scores, 8))
    [graph] = of_type(callbacks.show_picture(services, None)[0], "Graph")
    figure = graph.figure
    points = [point for trace in figure.data for point in trace.customdata]
    assert {point[0] for point in points} == {f"sum_{n:03}" for n in range(1, 9)}
    click = {"points": [{"customdata": ["sum_003", "sum_003"]}]}
    assert TestUrl.read(callbacks.open_point("?page=2", click)).test == "sum_003"


def test_the_picture_is_drawn_again_for_other_results_only(workspace_files: WorkspaceFiles) -> None:
    services = finished(services_with(workspace_files, {name: [1, 0] for name in "ab"}))
    _, version = callbacks.show_picture(services, None)
    assert callbacks.show_picture(services, version) == (no_update, no_update)
    workspace_files.add_tests(1)
    workspace_files.write()
    picture, newer = callbacks.show_picture(finished(services), version)
    assert (picture is no_update, newer == version) == (False, False)


def test_the_picture_of_very_many_tests_is_thinned_out_and_keeps_the_lowest() -> None:
    items = [
        ItemParameters(test_id=f"t{n}", discrimination=n / 100, difficulty=0.0) for n in range(2500)
    ]
    usual, suspicious = item_scatter_figure(items, {"t7", "t9"}).data
    assert (usual.name, suspicious.name) == ("tests: 833 of 2,498", "suspicious")
    assert (len(usual.x), usual.customdata[0][0], max(usual.y)) == (833, "t0", 24.98)
    assert [each[0] for each in suspicious.customdata] == ["t7", "t9"]


def test_the_panel_shows_what_each_llm_would_be_asked(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", ["4"])
    workspace_files.add_llm("b", ["4"], base_system_prompt="Be brief.")
    services = services_of(workspace_files.write())
    shown = text_of(callbacks.show_panel(finished(services), "?test=sum_001"))
    assert "Solve: 1 + 1" in shown
    assert "Be brief." in shown


def test_the_panel_tells_what_is_wrong_without_the_name_above_it(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_tests(1, text="1 + 1")
    services = services_of(workspace_files.write())
    panel = callbacks.show_panel(finished(services), "?test=sum_002")
    [wrong] = [part for part in of_type(panel, "Section") if "Problems" in text_of(part)]
    [told] = of_type(wrong, "Li")
    assert " ".join(text_of(told).split()).startswith("This is the same question as sum_001")
    assert [text_of(code) for code in of_type(told, "Code")] == ["sum_001"]


def test_the_panel_leads_to_the_results_where_a_test_has_any(
    workspace_files: WorkspaceFiles,
) -> None:
    services = finished(services_with(workspace_files, {"a:b": [1.0], "c:d": [0.0]}, 2))
    [link] = of_type(callbacks.show_panel(services, "?test=sum_001"), "Link")
    assert (text_of(link), link.href) == ("Compare", "/compare?test=sum_001")
    assert "Compare" not in text_of(callbacks.show_panel(services, "?test=sum_002"))


def test_a_changed_test_is_saved(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    services = services_of(workspace_files.write())
    fields = ("3 + 3", 2, "6", '{"expected": "6"}')
    assert panel.save_test(services, "sum_001", *fields).is_saved
    test = services.files.config().workspace.tests_by_id["sum_001"]
    assert (test.text, test.level, test.reference_response) == ("3 + 3", 2, "6")
    assert test.evaluator is not None
    assert test.evaluator.parameters == {"expected": "6"}


def test_a_changed_test_keeps_its_group(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2, group="sums of two")
    folder = workspace_files.write()
    services = services_of(folder)
    assert panel.save_test(services, "sum_001", "3 + 3", 2, "6", "{}").is_saved
    assert services.files.config().workspace.tests_by_id["sum_001"].group == "sums of two"
    stored = json.loads((folder / "tests.json").read_text())["tests"]
    assert [test["group"] for test in stored] == ["sums of two"] * 2


def test_what_cannot_be_saved_says_why_beside_its_field_and_changes_nothing(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    folder = workspace_files.write()
    services = services_of(folder)
    before = (folder / "tests.json").read_bytes()
    answer = panel.save_test(services, "sum_002", "1 + 1", "hard", "", "{}")
    assert not answer.is_saved
    assert list(answer.errors) == ["level"]
    assert "Correct red fields" in text_of(answer.shown)
    answer = panel.save_test(services, "sum_002", "1 + 1", 1, "", "[1]")
    assert not answer.is_saved
    assert "JSON object" in answer.errors["evaluation_module"]
    assert (folder / "tests.json").read_bytes() == before


def test_what_belongs_to_no_field_is_told_below_the_form(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    services = services_of(workspace_files.write())
    answer = panel.save_test(services, "gone", "1 + 1", 1, "", "{}")
    assert not answer.errors
    assert "gone" in text_of(answer.shown)


def test_a_template_without_its_placeholder_is_refused(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    services = services_of(workspace_files.write())
    template = "Work out {problem}, please"
    assert panel.save_template(services, "sum_001", template).is_saved
    answer = panel.save_template(services, "sum_001", "")
    assert not answer.is_saved
    assert list(answer.errors) == ["work_prompt_template"]
    classes = services.files.config().workspace.test_classes
    assert classes["sums"].templates["default"] == template


def test_classes_become_a_file(workspace_files: WorkspaceFiles) -> None:
    scores = {name: [1, 0, *[1] * 28] for name in "abcdef"}
    services = services_with(workspace_files, scores)
    [row] = classes_csv(finished(services), "").rows
    assert row == row | {"Class": "sums", "Tests": 3, "Evaluator": "has_expected"}
    assert row["Difficulty level 3"] == 1.0
    assert row["Tests level 3"] == 1


def test_files_hold_what_was_still_computed(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {name: [1, 0, 1] for name in "abcdef"})
    services.tests._items._patience_s = services.tests._faults._patience_s = 0
    rows = callbacks.tests_csv(services, "").rows
    assert [row["Mean score"] for row in rows] == [1.0, 0.0, 1.0]
    assert [row["Pass rate (%)"] for row in rows] == [100.0, 0.0, 100.0]
    assert all(row["Findings"] for row in rows)


def test_only_what_was_changed_is_written() -> None:
    test = Test(test_id="t", class_id="c", level=1, texts=("a", "b"))
    assert form_to_changes(test, json.dumps(["a", "b"]), 1, "", "{}") == {}
    assert form_to_changes(test, '["a"]', 2, "x", "") == {
        "texts": ["a"],
        "level": 2,
        "reference_response": "x",
    }
    with pytest.raises(ConfigError, match="JSON list"):
        form_to_changes(test, "a", 1, "", "")


def test_the_whole_state_survives_the_address() -> None:
    selection = TestUrl(classes=("a",), text="x", kind="flaky", ticked=("t", "u"), page=2, test="t")
    assert TestUrl.read(selection.search) == selection


def listed_ids(services: Services, search: str) -> list[str]:
    return [test.test_id for test in list_found_tests(services, search)]


def test_tests_are_sorted_and_filtered_by_their_figures(workspace_files: WorkspaceFiles) -> None:
    scores = {name: [0.5, 1, 0.25] for name in "abcd"}
    services = finished(services_with(workspace_files, scores, 4))
    assert listed_ids(services, "?sort=mean") == ["sum_003", "sum_001", "sum_002", "sum_004"]
    assert listed_ids(services, "?sort=mean&descending=yes")[-1] == "sum_004"
    assert listed_ids(services, "?kind=everybody_passes&severity=low") == ["sum_002"]
    assert listed_ids(services, "?level=2") == ["sum_001"]
    *_, listed, _ = callbacks.show(services, "")
    assert "n/a" in text_of(listed)
    assert [link.href for link in of_type(listed, "Link")][:1] == ["/compare?test=sum_001"]


def listed_by_figures(url: TestUrl) -> list[str]:
    """List the tests t1 to t4 that a filter finds; the last one has no figures."""
    figures = {"t1": (1.0, 0.6, 0.0), "t2": (0.5, -0.5, 0.25), "t3": (0.0, None, None)}
    items = {
        test_id: Item(
            test_id=test_id, class_id="c", level=1, n_llms=4, n_models=4, mean_score=mean,
            pass_rate=mean, alike=None, findings=(), flip_rate=flakiness,
            discrimination=None if rest is None else Estimate(value=rest, low=-1.0, high=1.0, n=4),
        )
        for test_id, (mean, rest, flakiness) in figures.items()
    }  # fmt: skip
    tests = [Test(test_id=name, class_id="c", level=1, text="?") for name in (*items, "t4")]
    return [test.test_id for test in find_tests(tests, url, KnownTests(items, {}))]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", ["t1", "t2", "t3", "t4"]),
        ("?min-mean=0.5", ["t1", "t2"]),
        ("?min-mean=0.1&max-mean=0.5", ["t2"]),
        ("?max-discrimination=-0.5", ["t2"]),
        ("?min-discrimination=-1", ["t1", "t2"]),
        ("?min-flakiness=25", ["t2"]),
        ("?max-flakiness=24", ["t1"]),
    ],
)
def test_tests_are_filtered_by_ranges_of_their_figures(search: str, found: list[str]) -> None:
    assert listed_by_figures(TestUrl.read(search)) == found


@pytest.mark.parametrize(
    ("search", "found"),
    [("?sort=kind", ["t3", "t1", "t2"]), ("?sort=kind&descending=yes", ["t1", "t3", "t2"])],
)
def test_tests_are_sorted_by_the_kind_of_their_worst_finding(search: str, found: list[str]) -> None:
    def finding(title: str, severity: IssueSeverity) -> TestFinding:
        return TestFinding(kind=title, severity=severity, title=title, text="", fix="")

    low, high = finding("A note", IssueSeverity.LOW), finding("Wrong key", IssueSeverity.HIGH)
    alike = finding("Models fail alike", IssueSeverity.HIGH)
    tests = [Test(test_id=name, class_id="c", level=1, text="?") for name in ("t1", "t2", "t3")]
    known, url = KnownTests({}, {"t1": (low, high), "t3": (alike,)}), TestUrl.read(search)
    assert [test.test_id for test in find_tests(tests, url, known)] == found
    heads = of_type(build_test_table(tests, known, url), "Th")
    [head] = [each for each in heads if "Kind" in text_of(each)]
    order = "descending" if url.descending else "ascending"
    assert getattr(head, "aria-sort") == order


def test_figures_that_are_being_computed_are_not_called_unknown() -> None:
    computing = KnownTests({}, {}, has_figures=False)
    test = Test(test_id="t", class_id="c", level=1, text="?")
    shown = text_of(build_test_table([test], computing, TestUrl()))
    assert (shown.count("computing ..."), "n/a" in shown) == (3, False)
    nothing = build_test_table([], computing, TestUrl(min_mean=0.5))
    assert text_of(nothing) == "computing ..."
    assert "Nothing matches" in text_of(build_test_table([], KnownTests({}, {}), TestUrl()))


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_findings_are_grouped_the_most_harmful_first(workspace_files: WorkspaceFiles) -> None:
    scores = {name: [1, 0, *[1] * 28] for name in "abcdef"}
    services = finished(services_with(workspace_files, scores, 30))
    found = services.tests.findings().value
    assert found is not None
    ranks = [list(IssueSeverity).index(group.severity) for group in found.groups]
    assert ranks == sorted(ranks)
    [worst, *_] = found.groups
    assert (worst.severity, worst.test_ids) == (IssueSeverity.HIGH, ("sum_002",))
    passed = next(group for group in found.groups if group.kind == "everybody_passes")
    assert len(passed.test_ids) == 29
    groups = still(callbacks.show(services, "")[2])
    assert "29 tests" in json.dumps(groups)


def test_a_bulk_edit_changes_ticked_tests_and_can_be_undone(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    services = services_of(workspace_files.write())
    told, is_changed = apply_edit(services, TestUrl(ticked=("sum_001",)).search, "", "")
    assert not is_changed
    assert "Not changed: no change" in text_of(told)
    search = TestUrl(ticked=("sum_001", "sum_003")).search
    assert apply_edit(services, search, "disable", None) == (
        "Disabled 2 tests.",
        True,
    )
    assert callbacks.show(services, "")[0] == "3 tests in 1 class · 2 disabled tests are skipped"
    assert listed_ids(services, "?state=disabled") == ["sum_001", "sum_003"]
    assert undo_edit(services) == ("Undone: Disabled 2 tests.", True)
    assert listed_ids(services, "?state=disabled") == []
    assert not undo_edit(services)[1]


def test_without_ticks_a_bulk_edit_changes_what_the_filters_find(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    services = services_of(workspace_files.write())
    assert apply_edit(services, "?level=2", "add-tag", "easy")[1]
    tags = [test.tags for test in services.files.workspace().tests]
    assert tags == [("easy",), (), ()]
    told, is_changed = apply_edit(services, "", "class:gone", None)
    assert not is_changed
    assert "unknown test class" in text_of(told)


def test_a_panel_that_was_just_closed_shows_nothing(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    assert panel.read_test_id({"index": "sum_001", "type": "x"}) == "sum_001"
    assert callbacks.show_facts(services, panel.read_test_id(None)) == []


def test_a_refused_edit_names_each_reason_once_with_its_tests_and_no_warning(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(7)
    workspace_files.classes += [
        workspace_files.classes[0]
        | {"id": "numbers", "evaluation_module": {"name": "number_match", "parameters": {}}}
    ]
    told, is_changed = apply_edit(services_of(workspace_files.write()), "", "class:numbers", "")
    assert not is_changed
    shown = text_of(told)
    assert re.search("Not changed: 7 problems in [^ ,]*tests.json", shown)
    assert shown.count("sum_001") == shown.count("field required") == 1
    assert re.search(r"sum_005 +and 2 more: +expected : field required", shown)
    assert "no test belongs" not in shown


def test_all_windows_tell_the_last_edit_and_keep_a_refusal(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    services = services_of(workspace_files.write())
    assert tell_edit(services.edits, None) is no_update
    apply_edit(services, "", "level:2", None)
    for shown in (None, "", "Disabled 2 tests."):
        assert tell_edit(services.edits, shown) == "Set level 2 for 3 tests."
    undo_edit(services)
    assert tell_edit(services.edits, "Set level 2 for 3 tests.").startswith("Undone: Set level 2")
    assert tell_edit(services.edits, None) is no_update
    assert tell_edit(services.edits, {"type": "Div"}) is no_update

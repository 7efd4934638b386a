from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import pytest

from poor_bench.dashboard.pages.issues import callbacks
from poor_bench.dashboard.pages.issues.layout import IssueUrl
from poor_bench.dashboard.pages.registry import PAGES
from poor_bench.dashboard.services.computations import Requests
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.web.first_paint import write_first_paint
from poor_bench.issues.detector import TrialTable
from poor_bench.issues.found_issues import FoundIssues
from poor_bench.results import text_columns
from poor_bench.results.query import ResultQuery
from poor_bench.results.stored_texts import StoredTexts
from poor_bench.results.table import TrialKey
from poor_bench.statistics.summary import GroupBy
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, services_with, write_results
from tests.dashboard.seen_text import of_type, text_of
from tests.waiting import MOST_S, wait_for


def finished(services: Services) -> Services:
    wait_for(lambda: services.issues.report().is_current)
    return services


def test_causes_come_with_meaning_advice_and_links_to_the_results(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"good": [1, 1, 1], "bad": [0, 1, 0]})
    finished(services)
    note, _, groups, _, is_current = callbacks.show(services, "")
    assert is_current
    assert "6 results" in note
    assert "2.0 points lost" in note
    assert "Fix" in text_of(groups)
    assert any("scripted%3Abad" in link.href for link in of_type(groups, "Link"))
    assert not any("scripted%3Agood" in link.href for link in of_type(groups, "Link"))


class HeldRequests(Requests):
    """Holds up whatever gives way to requests, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def give_way(self) -> None:
        assert self.gate.wait(MOST_S)


def hold_reading(
    services: Services, monkeypatch: pytest.MonkeyPatch, told_every: int = 1
) -> HeldRequests:
    """Let the report of all results stop after so many, until it is let go."""
    monkeypatch.setattr(text_columns, "_TOLD_EVERY", told_every)
    services.issues._requests = held = HeldRequests()
    return held


def wait_until_held(services: Services) -> None:
    wait_for(lambda: services.issues.report() and services.issues.progress[0])


def test_the_page_says_how_many_results_are_read_while_it_computes(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_with(workspace_files, {"good": [1, 1, 1], "bad": [0, 1, 0]})
    held = hold_reading(services, monkeypatch, told_every=4)
    wait_until_held(services)
    note, chips, _, _, is_current = callbacks.show(services, "")
    assert note == "computing: 4 of 6 results read"
    assert chips is None
    assert not is_current
    held.gate.set()
    assert "in 6 results" in callbacks.show(finished(services), "")[0]


def test_issues_of_one_model_do_not_wait_for_the_report_of_all(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_with(workspace_files, {"good": [1, 1, 1], "bad": [0, 1, 0]})
    held = hold_reading(services, monkeypatch)
    wait_until_held(services)
    asked = threading.Thread(target=lambda: services.issues.of_llm("scripted:bad"), daemon=True)
    asked.start()
    try:
        wait_for(lambda: not asked.is_alive())
        assert not services.issues.report().is_current
    finally:
        held.gate.set()
    finished(services)


def test_causes_of_a_sample_come_first_and_those_without_suspicious_tests_next(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StoredTexts, "sample", lambda texts: replace(texts).look())
    services = services_with(workspace_files, {"bad": [0, 1, 0]})
    held = hold_reading(services, monkeypatch)
    items, ask = threading.Event(), services.issues._items
    monkeypatch.setattr(services.issues, "_items", lambda: items.wait(MOST_S) and ask())
    wait_for(lambda: services.issues.report().value)
    note, chips, causes, tax, is_current = callbacks.show(services, "")
    assert note.startswith("computing")
    assert note.endswith("· sample: 2 findings in 3 results · 2.0 points lost")
    assert (text_of(chips).count("2"), is_current) == (1, False)
    assert len(of_type(causes, "Progress")) == 1
    assert "loading-state" in tax.className.split()
    held.gate.set()
    wait_for(lambda: not callbacks.show(services, "")[0].startswith("computing"))
    note, _, causes, _, is_current = callbacks.show(services, "")
    assert (note, is_current) == ("2 findings in 3 results · 2.0 points lost", False)
    assert not of_type(causes, "Progress")
    items.set()
    assert callbacks.show(finished(services), "")[0] == note


def test_a_document_waits_for_causes_of_a_sample_and_a_link_does_not(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def read_sample(texts: StoredTexts) -> TrialTable:
        assert gate.wait(MOST_S)
        return replace(texts).look()

    monkeypatch.setattr(StoredTexts, "sample", read_sample)
    services = services_with(workspace_files, {"bad": [0, 1, 0]})
    services.results.summaries(GroupBy.LLM)
    held = hold_reading(services, monkeypatch)
    page = next(each for each in PAGES if each.path == "/issues")
    assert page.patience_s > 0
    paint = partial(write_first_paint, services, [replace(page, patience_s=MOST_S)], "/issues", "")
    assert "computing ..." in paint(has_shell=False)
    gate.set()
    assert "sample: 2 findings" in paint()
    held.gate.set()
    finished(services)


def test_no_sample_is_read_where_an_older_report_stands(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[StoredTexts] = []

    def note_sample(texts: StoredTexts) -> None:
        samples.append(texts)

    monkeypatch.setattr(StoredTexts, "sample", note_sample)
    services = finished(services_with(workspace_files, {"bad": [0, 1, 0]}))
    assert len(samples) == 1
    folder = services.files.config().data_dir
    write_results(folder, {"scripted:bad": [scored("sum_001", 0.0)]})
    assert "1.0 points lost" in callbacks.show(finished(services), "")[0]
    assert len(samples) == 1


def test_a_chosen_llm_hides_the_issues_of_others(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"good": [1, 1, 1], "bad": [0, 1, 0]})
    finished(services)
    note, _, groups, *_ = callbacks.show(services, "?llm=scripted%3Agood")
    assert note.startswith("0 findings")
    assert "No issues" in text_of(groups)


def test_new_results_are_summed_up_too(workspace_files: WorkspaceFiles) -> None:
    services = finished(services_with(workspace_files, {"bad": [0, 1, 0]}))
    assert "2.0 points lost" in callbacks.show(services, "")[0]
    folder = services.files.config().data_dir
    write_results(folder, {"scripted:bad": [scored("sum_001", 0.0)]})
    assert "1.0 points lost" in callbacks.show(finished(services), "")[0]


def test_a_choice_is_summed_up_once(workspace_files: WorkspaceFiles) -> None:
    services = finished(services_with(workspace_files, {"bad": [0, 1, 0]}))
    looked: list[FoundIssues] = []

    def choose() -> FoundIssues:
        looked.append(services.issues.wait().issues)
        return looked[-1]

    first = services.issues.group(services.issues.wait(), "all", choose)
    assert services.issues.group(services.issues.wait(), "all", choose) is first
    services.issues.group(services.issues.wait(), "others", choose)
    assert len(looked) == 2


def test_a_chosen_severity_leaves_the_other_causes_out(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {"bad": [0, 0, 0]})
    finished(services)
    _, chips, groups, *_ = callbacks.show(services, "?severity=high")
    assert "No issues" in text_of(groups)
    assert [link.className for link in of_type(chips, "A")] == ["chip is-active", "chip", "chip"]


def test_what_an_llm_said_stays_text(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    attack = "<img src=x onerror=alert(1)> [a](javascript:alert(1))"
    write_results(folder, {"old:llm": [scored("sum_001", 0.0, attack, details=attack)]})
    services = services_of(folder)
    _, _, groups, *_ = callbacks.show(finished(services), "")
    assert not of_type(groups, "Markdown")
    assert all(not link.href.startswith("javascript") for link in of_type(groups, "Link"))


@pytest.mark.parametrize(("details", "n_boxes"), [("got 5", 1), ("", 0)])
def test_an_example_without_evidence_has_no_empty_box(
    workspace_files: WorkspaceFiles, details: str, n_boxes: int
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {"old:llm": [scored("sum_001", 0.0, "5", details=details)]})
    _, _, groups, *_ = callbacks.show(finished(services_of(folder)), "")
    assert (
        len([code for code in of_type(groups, "Code") if code.className == "evidence"]) == n_boxes
    )


def test_without_results_the_page_leads_to_the_first_run(workspace_files: WorkspaceFiles) -> None:
    services = services_of(workspace_files.write())
    _, _, groups, *_ = callbacks.show(finished(services), "")
    assert "No results yet" in text_of(groups)
    assert [link.href for link in of_type(groups, "Link")] == ["/run"]


def test_format_tax_names_what_mends_it(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    folder = workspace_files.write()
    fenced = scored("sum_001", 1.0, "```\n4\n```", strict_score=0.0, found="fenced")
    write_results(folder, {"old:llm": [fenced, scored("sum_002", 1.0, found="bare")]})
    services = services_of(folder)
    *_, tax, _ = callbacks.show(finished(services), "")
    assert "fenced 1x" in text_of(tax)
    assert "0.500" in text_of(tax)
    assert "Markdown" in text_of(tax)


@pytest.mark.parametrize(("found", "said"), [("bare", "No format tax"), ("", "n/a")])
def test_a_format_tax_that_nobody_knows_is_not_said_to_be_none(
    workspace_files: WorkspaceFiles, found: str, said: str
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {"old:llm": [scored("sum_001", 1.0, found=found)]})
    services = services_of(folder)
    *_, tax, _ = callbacks.show(finished(services), "")
    assert text_of(tax) == said
    assert len(callbacks.tax_csv(services, "").csv.splitlines()) == 1


@pytest.mark.parametrize(
    ("strict", "said"), [(1.0, "No format tax: old:known n/a: old:llm"), (0.5, "n/a: old:llm")]
)
def test_models_whose_format_tax_nobody_knows_are_named(
    workspace_files: WorkspaceFiles, strict: float, said: str
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    known = scored("sum_001", 1.0, strict_score=strict, found="fenced")
    write_results(folder, {"old:known": [known], "old:llm": [scored("sum_001", 1.0)]})
    *_, tax, _ = callbacks.show(finished(services_of(folder)), "")
    assert text_of(tax).endswith(said)


def test_a_choice_stands_in_the_address_and_comes_back_from_it() -> None:
    chosen = IssueUrl.read("?severity=low").change(llm_ids=("a:b",), classes=("sums",))
    assert IssueUrl.read(chosen.search) == chosen


def test_csv_holds_the_chosen_issues_without_formulas(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    write_results(folder, {"old:llm": [scored("sum_001", 0.0, "=1+1", details="=cmd()")]})
    services = services_of(folder)
    finished(services)
    content = callbacks.issues_csv(services, "").csv
    assert "sum_001" in content
    assert ",=" not in content
    assert "sum_001" not in callbacks.issues_csv(services, "?class=other").csv
    view = "?table=causes~~cause.trials"
    headings = [heading for _, heading in callbacks.issues_csv(services, view).columns]
    assert headings[:2] == ["Cause", "Model ID"]
    assert "Lost score" not in headings
    assert "Lost score" in content


def test_results_of_suspicious_tests_are_found(workspace_files: WorkspaceFiles) -> None:
    services = services_with(workspace_files, {name: [0, *[1] * 29] for name in "abcdef"}, 30)
    finished(services)
    answer = services.issues.report().value
    assert answer is not None
    [issue] = [
        issue
        for issue in answer.issues
        if (issue.detector_id, issue.llm_id) == ("suspicious_test", "scripted:a")
    ]
    found = services.trials.find(ResultQuery(llm_id="scripted:a", issue="suspicious_test"))
    assert len(found) == 1
    assert found.key_at(0) == TrialKey(issue.test_id, issue.trial, is_failure=False)


def test_a_detector_dropped_into_the_workspace_is_shown_at_once(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_with(workspace_files, {"bad": [0, 1, 0]})
    assert "Says no" not in text_of(callbacks.show(finished(services), "")[2])
    folder = workspace_files.folder / "issues"
    folder.mkdir()
    (folder / "own.py").write_text('"""Says no."""\ndef detect(result):\n    return "seen"')
    (folder / "broken.py").write_text("import no_such_module")
    groups = callbacks.show(finished(services), "")[2]
    assert "Says no" in text_of(groups)
    assert "broken.py:1" in text_of(groups)
    assert len(services.trials.find(ResultQuery(llm_id="scripted:bad", issue="own"))) == 3
    details = services.trials.details("scripted:bad", TrialKey("sum_001", 1, is_failure=False))
    assert details is not None
    assert ("Says no", "seen") in details.issues


def test_columns_of_the_causes_are_chosen_in_the_address(workspace_files: WorkspaceFiles) -> None:
    services = finished(services_with(workspace_files, {"bad": [0, 0, 0]}))
    _, _, usual, *_ = callbacks.show(services, "")
    [tick] = [
        link
        for link in of_type(usual, "A")
        if link.className == "column-tick" and text_of(link).strip() == "Trials"
    ]
    _, _, fewer, *_ = callbacks.show(services, tick.href)
    heads = [text_of(of_type(causes, "Summary")[1:]) for causes in (usual, fewer)]
    assert "3 trials" in heads[0]
    assert "3 trials" not in heads[1]
    assert "100.0 %" in heads[1]
    assert "hides-trials" in fewer.className

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from poor_bench.messages import harmless
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.reports.html import page as answers_module
from poor_bench.reports.html.page import CUT, LEFT_OUT, answers, report_to_html
from poor_bench.reports.html.tables import build_leaderboard
from poor_bench.reports.report_data import ReportData
from tests.comparison.builders import make_tests, scored
from tests.reports.builders import (
    HOSTILE,
    make_hostile_report,
    make_report,
    make_results,
    with_base,
)

VOID = {"meta", "br", "input", "wbr", "link", "img"}


class Page(HTMLParser):
    """Reads a page and notes what matters for its safety."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.inside: dict[str, str] = {"style": "", "script": "", "title": ""}
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.inside:
            self.inside[self.open[-1]] += data
        else:
            self.text += data


def reports() -> list[ReportData]:
    results = make_results()
    hostile = make_hostile_report()
    changed = [*results[:12], *(scored(f"t{n}", 1.0, llm_id="bad") for n in range(11))]
    return [
        make_report(results),
        with_base(make_report(results), changed),
        hostile,
        with_base(hostile, hostile.results),
        make_report([]),
        make_report([scored()]),
    ]


@pytest.fixture(
    scope="module",
    params=range(6),
    ids=["plain", "changed", "hostile", "hostile changed", "empty", "one"],
)
def page(request: pytest.FixtureRequest) -> Page:
    return Page(report_to_html(reports()[request.param]))


def test_page_is_well_formed(page: Page) -> None:
    assert page.open == []


def test_policy_allows_exactly_the_style_and_the_script_of_the_page(page: Page) -> None:
    [policy] = [value for _, _, value in page.attributes if value.startswith("default-src")]
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.inside[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_page_asks_nobody_and_runs_nothing_inline(page: Page) -> None:
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in {"style", "src", "srcset", "action", "formaction", "data", "xlink:href"}
        if name == "href":
            assert (tag, value[0]) == ("a", "#")
    assert not re.search(
        r"url\(|@import|fetch\(|XMLHttp|import\(", page.inside["style"] + page.inside["script"]
    )


def test_ids_are_unique(page: Page) -> None:
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_hostile_text_is_shown_as_text() -> None:
    page = Page(report_to_html(make_hostile_report()))
    assert harmless(HOSTILE) in page.text
    assert {tag for tag, _, _ in page.attributes}.isdisjoint({"img", "iframe", "object", "embed"})
    assert page.inside["script"].endswith("})();")


def test_page_shows_leader_classes_issues_and_failures() -> None:
    tests = make_tests("t11", class_id="other")
    report = make_report(make_results())
    shown = Page(report_to_html(make_report(make_results(), tests={**report.tests, **tests}))).text
    for words in ("good is significantly better", "Scores by class", "what to try",
                  "connection", "refused", "Time by phase"):  # fmt: skip
        assert words in shown


def test_repeated_trials_have_a_part_of_their_own() -> None:
    trials = [scored("t", float(n % 2), llm_id="a", trial=n) for n in (1, 2)]
    assert "pass^2" in Page(report_to_html(make_report(trials))).text
    assert "Repeated trials" not in Page(report_to_html(make_report(trials[:1]))).text


def test_one_of_each_is_counted_in_the_singular() -> None:
    trial = [scored("t", 0.0, llm_id="a")]
    failed_again = replace(
        trial[0], score=None, failure=Failure(kind=FailureKind.CONNECTION, message="no")
    )
    shown = Page(report_to_html(make_report([*trial, failed_again]))).text
    assert "1 model, 1 test, 1 trial" in " ".join(shown.split())
    assert "told apart" not in shown


def test_changes_stand_with_their_base() -> None:
    shown = Page(report_to_html(reports()[1])).text
    assert "Changes since the baseline" in shown
    assert "Broken (11)" in shown


def test_times_of_different_machines_are_called_so() -> None:
    machines = [{"cpu": "A", "cores": 2}, {"cpu": "B", "cores": 8}]
    shown = Page(report_to_html(make_report(make_results(), machines=machines))).text
    assert (
        "Times are not comparable: measured on different machines (A, 2 cores; B, 8 cores)" in shown
    )


def test_long_texts_are_shortened_and_much_text_is_left_out() -> None:
    results = [scored(f"t{n}", response="x" * 10_000) for n in range(3)]
    shown = answers(make_report(results), max_characters=5000).tests
    assert shown[0].answers[0].response.endswith(CUT)
    assert shown[2].answers[0].response == LEFT_OUT


def test_tests_that_lost_most_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers_module, "MAX_TESTS", 2)
    results = [scored("a", 1.0), scored("b", 0.0), scored("c", 0.5)]
    shown = answers(make_report(results))
    assert [test.test_id for test in shown.tests] == ["b", "c"]
    assert shown.n_left_out == 1


def test_failure_is_no_score() -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="too slow")
    result = Result(llm_id="a", test_id="t", failure=failure)
    [test] = answers(make_report([result])).tests
    assert (test.mean_text, test.has_failure, test.answers[0].step) == ("-", True, None)
    assert test.answers[0].failure == "timeout: too slow"


def test_a_variant_that_left_the_race_has_no_rank() -> None:
    report = make_report(make_results(), dropped={"bad": "dropped early"})
    good, bad = build_leaderboard(report)
    assert (good.ranks, bad.ranks) == ("1", "")
    assert bad.coverage_text == "dropped early"

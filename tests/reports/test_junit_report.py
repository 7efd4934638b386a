from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from poor_bench.reports.junit_report import report_to_junit
from poor_bench.reports.report_data import ReportData
from tests.comparison.builders import scored
from tests.reports.builders import make_hostile_report, make_report, make_results

ATTRIBUTES = {
    "testsuites": {"name"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "system-out"},
}
TIME = re.compile(r"\d+\.\d{3}")


def suites(report: ReportData) -> dict[str, Element]:
    root = fromstring("".join(report_to_junit(report)))
    return {suite.get("name", ""): suite for suite in root}


def assert_follows_the_schema(element: Element) -> None:
    assert set(element.keys()) == ATTRIBUTES[element.tag]
    assert TIME.fullmatch(element.get("time", "0.000"))
    for child in element:
        assert child.tag in CHILDREN[element.tag]
        assert_follows_the_schema(child)


def test_failures_are_low_scores_and_errors_could_not_be_run() -> None:
    bad = suites(make_report(make_results()))["bad"]
    counts = {name: bad.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "12", "failures": "11", "errors": "1", "skipped": "0"}
    assert next(bad.iter("failure")).get("message") == "score 0.000 is below 1"
    assert next(bad.iter("error")).get("message") == "refused"


def test_suite_tells_score_interval_and_times() -> None:
    good = suites(make_report(make_results()))["good"]
    told = {item.get("name"): item.get("value") for item in good.iter("property")}
    assert told["score"] == "1.0000"
    assert told["scored_share"] == "1.0000"
    assert told["median_ms"] == "200.0"


def test_pass_mark_decides_what_fails() -> None:
    report = make_report([scored(score=0.6)], pass_score=0.5)
    assert suites(report)["a"].get("failures") == "0"


def test_trials_are_cases_of_their_own() -> None:
    results = [scored("t", trial=trial) for trial in (1, 2)]
    names = [case.get("name") for case in suites(make_report(results))["a"].iter("testcase")]
    assert names == ["t", "t (trial 2)"]


def test_document_follows_the_common_schema_whatever_the_texts_hold() -> None:
    for report in (make_report(make_results()), make_hostile_report(), make_report([])):
        root: Any = fromstring("".join(report_to_junit(report)))
        assert_follows_the_schema(root)
    assert "\x1b" not in "".join(report_to_junit(make_hostile_report()))

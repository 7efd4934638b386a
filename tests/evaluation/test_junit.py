from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, fromstring

from poor_bench.evaluation.reports import report_to_junit
from poor_bench.evaluation.scoring import score_case, score_suite, score_trial
from tests.evaluation.builders import make_case, make_trial, not_run


def suite_of(**trials_by_case: list[Any]) -> Element:
    cases = []
    for case_id, trials in trials_by_case.items():
        case = make_case(id=case_id, trials=max(1, len(trials)))
        cases.append(score_case(case, [score_trial(case, trial) for trial in trials]))
    text = report_to_junit(score_suite("shop", cases))
    suite = fromstring(text).find("testsuite")
    assert suite is not None
    return suite


def test_every_case_is_a_test_case_that_fails_or_errs_or_neither() -> None:
    suite = suite_of(
        fine=[make_trial(summary="bought")],
        wrong=[make_trial(success=False, error="lost")],
        broken=[not_run()],
        stopped=[],
    )
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors")}
    assert counts == {"tests": "4", "failures": "1", "errors": "2"}
    fine, wrong, broken, stopped = suite.findall("testcase")
    assert [child.tag for child in fine] == ["system-out"]
    failure = wrong.find("failure")
    assert failure is not None
    assert failure.get("message") == "must_succeed: the agent did not succeed: lost"
    assert failure.get("type") == "must_succeed"
    error = broken.find("error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("connection", "nobody answers")
    assert stopped.find("error") is not None


def test_rates_are_properties_and_times_are_seconds() -> None:
    suite = suite_of(one=[make_trial(duration_ms=1500.0), make_trial(duration_ms=500.0)])
    assert suite.get("time") == "2.000"
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["pass_rate"] == "1"
    assert properties["p95_duration_ms"] == "1450"
    assert "handoff_rate" not in properties


def test_hostile_text_makes_no_markup() -> None:
    hostile = "]]></system-out><failure/>\x1b[2J\x00"
    suite = suite_of(one=[make_trial(success=False, error=hostile, summary=hostile)])
    (case,) = suite.findall("testcase")
    assert [child.tag for child in case] == ["failure", "system-out"]
    assert "\x1b" not in "".join(case.itertext())

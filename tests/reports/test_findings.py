from __future__ import annotations

from poor_bench.reports.findings import list_findings, name_ties
from tests.comparison.builders import scored
from tests.reports.builders import make_report, make_results, with_base


def test_clear_leader_is_named() -> None:
    told = list(list_findings(make_report(make_results()), str))
    assert told[0] == "good is significantly better than every other model on their common tests."
    complete = make_report(
        make_results()[:12] + make_results()[12:-1] + [scored("t11", 0.0, llm_id="bad")]
    )
    assert (
        next(list_findings(complete, str)) == "good is significantly better than every other model."
    )
    assert told[-1] == "1 of 24 trials failed to run and count in no score."


def test_llms_that_cannot_be_told_apart_are_named_together() -> None:
    results = [scored(f"t{n}", (n + shift) % 2, llm_id=llm_id) for n in range(6)
               for shift, llm_id in enumerate("abcde")]  # fmt: skip
    report = make_report(results)
    told = list(list_findings(report, lambda name: f"<{name}>"))
    assert told[0] == "<a> scores highest, but not significantly higher than: <b>; <c>; <d>; <e>."
    assert set(name_ties(report).values()) == {"a"}


def test_different_llms_have_different_letters() -> None:
    assert name_ties(make_report(make_results())) == {"good": "a", "bad": "b"}


def test_established_change_is_told_and_else_that_there_is_none() -> None:
    results = make_results()
    perfect = [scored(f"t{n}", 1.0, llm_id="bad") for n in range(11)]
    worse = with_base(make_report(results), perfect)
    assert any(
        line.startswith("bad: worse than before, -1.000") for line in list_findings(worse, str)
    )
    assert "New, with no earlier results to compare: good." in list(list_findings(worse, str))
    same = with_base(make_report(results), results)
    assert "No significant difference from the baseline." in list(list_findings(same, str))


def test_single_llm_leads_nobody() -> None:
    assert not list(list_findings(make_report([scored()]), str))

"""Reports about a few results, also of hostile ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poor_bench.comparison.compare import compare_result_sets
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.reports.report_data import BaseComparison, ReportData
from tests.comparison.builders import failed, make_tests, scored, side

HOSTILE = "</script><img src=x onerror=alert(1)>`` @everyone | #1 http://evil.example\x1b[2J"


def make_report(results: Sequence[Result], **fields: Any) -> ReportData:
    tests: Mapping[str, Test] = make_tests(*dict.fromkeys(r.test_id for r in results))
    ids = dict.fromkeys(result.llm_id for result in results)
    llms = {llm_id: LLM(id=llm_id, provider="p", name=llm_id) for llm_id in ids}
    given = {"title": "bench", "created": "2026-11-21T10:00:00+00:00", "tests": tests, "llms": llms}
    return ReportData(**{**given, "results": tuple(results), **fields})


def make_results(n_tests: int = 12) -> list[Result]:
    """Return results of a good and a bad LLM with times and phases, and one failure."""
    facts = {"execution_time_ms": 200.0, "prefill_ms": 50.0, "decode_ms": 100.0}
    facts |= {"completion_tokens": 20, "response": "4", "run_id": "r"}
    good = [scored(f"t{n}", 1.0, llm_id="good", **facts) for n in range(n_tests)]
    slower = facts | {"execution_time_ms": 900.0}
    bad = [scored(f"t{n}", 0.0, llm_id="bad", **slower) for n in range(n_tests - 1)]
    return [*good, *bad, failed(f"t{n_tests - 1}", llm_id="bad")]


def make_hostile_report() -> ReportData:
    """Return a report in which every text that others wrote is hostile."""
    texts = {"response": HOSTILE, "details": HOSTILE, "thinking": HOSTILE, "prompt": HOSTILE}
    facts = texts | {"expected": HOSTILE, "got": HOSTILE, "found": HOSTILE, "marks": (HOSTILE,)}
    names = [HOSTILE, f"{HOSTILE}2"]
    results = [scored(f"{HOSTILE}{n}", n % 2, llm_id=name, **facts) for name in names
               for n in range(4)]  # fmt: skip
    tests = make_tests(*dict.fromkeys(result.test_id for result in results), class_id=HOSTILE)
    return make_report([*results, failed(HOSTILE, llm_id=HOSTILE)],
                       tests=tests | make_tests(HOSTILE, class_id="other"))  # fmt: skip


def with_base(report: ReportData, before: Sequence[Result], **options: Any) -> ReportData:
    """Return a report that compares its results with earlier ones."""
    old, new = side(*before, name="base"), side(*report.results, name="now")
    compared = compare_result_sets(old, new, tests=report.tests, **options)
    fields = {name: getattr(report, name) for name in ("title", "created", "tests", "llms")}
    return ReportData(**fields, results=report.results, base=BaseComparison(old, new, compared))

from __future__ import annotations

import re

import pytest

from poor_bench.reports.markdown_report import report_to_markdown
from poor_bench.statistics.summary import GroupBy
from tests.comparison.builders import make_tests, scored
from tests.reports.builders import (
    HOSTILE,
    make_hostile_report,
    make_report,
    make_results,
    with_base,
)

OURS = re.compile(r"</?(details|summary)>")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def test_leaderboard_shows_ties_intervals_and_failures() -> None:
    shown = report_to_markdown(make_report(make_results()))
    assert "## poor_bench: 2 models, 12 tests" in shown
    assert "| `good` | a | **1.000** |  | 0.76 to 1.00 | 1.000 | 12/12 | 0 | 200 ms |" in shown
    assert "| `bad` | b | **0.000** | 11 of 12 tests |" in shown
    assert "- `bad`, 1 time: `connection: refused`" in shown


def test_changes_name_broken_tests_and_what_was_not_compared() -> None:
    results = make_results()
    before = [scored(f"t{n}", 1.0, llm_id="bad") for n in range(8)]
    before += [scored(f"t{n}", 1.0, llm_id="bad", evaluator_fingerprint="x") for n in (8, 9)]
    shown = report_to_markdown(with_base(make_report(results), before))
    assert "**`bad` against the baseline**" in shown
    assert "- Broken (8): `t0` 1.00 → 0.00, `t1` 1.00 → 0.00" in shown
    assert re.search(r"- 8 tests: worse, -1\.000 \(-1\.000 to -0\.\d+\), p 0\.004", shown)
    assert "- Not compared, evaluator changed: 2 tests (`t8`, `t9`)" in shown
    assert "1.000 (-1.000 ▼)" in shown


def test_classes_are_a_table_of_their_own() -> None:
    tests = make_tests("t", class_id="a") | make_tests("u", class_id="b")
    report = make_report([scored("t"), scored("u", 0.0)], tests=tests)
    assert "| Model | `a` | `b` |" in report_to_markdown(report)
    by_class = report_to_markdown(report, GroupBy.LLM_CLASS)
    assert "| Model | Class | Score |" in by_class
    assert "| `a` | `b` | **0.000** |" in by_class


def test_what_format_alone_costs_is_a_table_of_its_own() -> None:
    fenced = scored("t", 1.0, llm_id="a", strict_score=0.25, found="fenced")
    shown = report_to_markdown(make_report([fenced, scored("u", 1.0, llm_id="a", found="bare")]))
    assert re.search(r"\| `a` \| .*Markdown.* \| 1\.000 \| 0\.625 \| 0\.375 \|", shown)


def test_repeated_trials_are_a_table_of_their_own() -> None:
    trials = [scored("t", float(n % 2), llm_id="a", trial=n) for n in (1, 2)]
    shown = report_to_markdown(make_report(trials))
    assert "| Model | Tests | pass@2 | pass^2 | Flip rate |" in shown
    assert "| `a` | 1 | 1.000 | 0.000 | 1.000 |" in shown
    assert "Repeated trials" not in report_to_markdown(make_report(trials[:1]))


def test_nothing_hostile_stands_outside_of_code_spans() -> None:
    hostile = make_hostile_report()
    shown = report_to_markdown(with_base(hostile, hostile.results))
    outside = CODE_SPAN.sub("", OURS.sub("", shown))
    assert HOSTILE[:20] in shown
    for mark in ("<", "@", "http:", "#1", "\x1b", "img", "`"):
        assert mark not in outside


@pytest.mark.slow(reason="a report of thousands of rows")
def test_report_stays_far_below_the_limit_of_a_comment() -> None:
    results = [scored(f"test_{n}", n % 2, llm_id=llm_id, details="x" * 5000)
               for n in range(400) for llm_id in ("a", "b", "c")]  # fmt: skip
    before = [scored(f"test_{n}", 1 - n % 2, llm_id=llm_id)
              for n in range(400) for llm_id in ("a", "b", "c")]  # fmt: skip
    assert len(report_to_markdown(with_base(make_report(results), before))) < 20_000


def test_effect_of_a_changed_prompt_stands_on_a_line_of_its_own() -> None:
    results = make_results()
    before = [scored(f"t{n}", 1.0, llm_id="bad", prompt="x", request_fingerprint="x")
              for n in range(8)]  # fmt: skip
    shown = report_to_markdown(with_base(make_report(results), before))
    assert "- 8 tests, prompt changed: worse, -1.000" in shown
    assert "- Not compared, prompt changed: 8 tests" in shown
    assert "`bad`: worse than before since the prompt changed, -1.000" in shown

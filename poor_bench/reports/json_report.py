"""Reports and comparisons as JSON; a later run can be compared with a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import orjson

from poor_bench import __version__
from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ComparedTest, ScoreChange
from poor_bench.comparison.messages import verdict
from poor_bench.comparison.result_set import ResultSet, find_unpaired_llms
from poor_bench.metrics import list_summary_values
from poor_bench.models.result import result_to_record
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.differences import bootstrap_interval
from poor_bench.statistics.summary import GroupBy, Summary

FORMAT = "1.0"


def report_to_json(data: ReportData, by: GroupBy = GroupBy.LLM) -> Iterator[str]:
    """Write the report as one JSON document, in pieces: results come last, one after the other.

    Args:
        data: The report.
        by: What a row of figures stands for.
    """
    pairs = data.compared.pairs  # first: ranks and tie groups then need no further tests
    document = {
        "version": FORMAT,
        "poor_bench": __version__,
        "created": data.created,
        "title": data.title,
        "summaries": data.summaries(by),
        "coverage": {llm_id: each.as_dict() for llm_id, each in data.coverage.items()},
        "order": data.order.llm_ids,
        "adjusted_scores": data.order.adjusted,
        "predicted_scores": data.order.predicted,
        "n_results_of_removed_tests": data.n_removed,
        "n_stale": data.n_stale,
        "settings_notes": data.settings_notes,
        "ranks": data.ranking.ranks,
        "tie_groups": data.ranking.groups,
        "pairs": pairs,
        "stratified": {
            "tests_weigh_alike": data.estimate_stratified(classes_weigh_alike=False),
            "classes_weigh_alike": data.estimate_stratified(classes_weigh_alike=True),
        },
        "reliability": data.reliabilities,
        "uncertainty": [row.as_dict() for row in data.uncertainties],
        "efforts": [_usage_to_json(summary) for summary in data.summaries_by_appearance()],
        "metrics": [
            {"llm_id": summary.group.llm_id, **list_summary_values(summary)}
            for summary in data.summaries()
        ],
        "floor": [row._asdict() for row in data.floor],
        "issues": data.issue_groups,
        "format_tax": data.format_taxes,
        "comparison": _convert_comparison(data),
        "runs": {key: header for key, header in data.runs.items() if key in data.run_ids},
    }
    yield _dump(document).removesuffix("\n}") + ',\n  "results": ['
    end = "]\n}\n"
    results = iter(data.results)
    while records := [result_to_record(result) for result in islice(results, _AT_ONCE)]:
        begin = "" if end.startswith("]") else ","
        yield begin + _dump(records)[1:-2].replace("\n", "\n  ")
        end = "\n  ]\n}\n"
    yield end


_AT_ONCE = 1_000
"""Results of a piece: each piece costs a write."""


def _dump(document: dict[str, Any] | list[dict[str, Any]]) -> str:
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(document, option=options, default=str).decode()


def _usage_to_json(summary: Summary) -> dict[str, Any]:
    """Time, tokens and cost under the keys that readers of version 1.0 know."""
    time = summary.time
    return {
        "llm_id": summary.group.llm_id,
        "n_timed": time.n if time else 0,
        "median_ms": time.median_ms if time else None,
        "p95_ms": time.p95_ms if time else None,
        "n_loads": summary.n_told.get("load_ms", 0),
        "mean_load_ms": summary.load_ms,
        "parts": summary.parts,
        "prompt_tokens": summary.prompt_tokens,
        "cached_tokens": summary.cached_tokens,
        "completion_tokens": summary.completion_tokens,
        "thinking_tokens": summary.thinking_tokens,
        "prefill_tokens_per_s": summary.prompt_tokens_per_s,
        "decode_tokens_per_s": summary.generation_tokens_per_s,
        "cost_usd": summary.cost_usd,
        "judge_cost_usd": summary.judge_cost_usd,
        "memory_bytes": summary.memory_bytes,
        "gpu_share": summary.gpu_share,
    }


def _convert_comparison(data: ReportData) -> dict[str, Any] | None:
    base = data.base
    return comparison_to_json(base.before, base.after, base.llms) if base else None


_RESAMPLED_UP_TO = 2_000
"""Tests; with more of them the bootstrap takes long and agrees with the other interval."""


def comparison_to_json(
    before: ResultSet, after: ResultSet, comparisons: Sequence[LLMComparison]
) -> dict[str, Any]:
    """Build the document that `compare --json` prints."""
    only_before, only_after = find_unpaired_llms(before, after)
    return {
        "before": before.name,
        "after": after.name,
        "llms_only_before": only_before,
        "llms_only_after": only_after,
        "llms": [_llm_to_json(comparison) for comparison in comparisons],
    }


def _llm_to_json(comparison: LLMComparison) -> dict[str, Any]:
    overall = comparison.overall
    return {
        "llm_before": comparison.llm_before,
        "llm_after": comparison.llm_after,
        "overall": _overall_to_json(overall) if overall else None,
        "classes": [_group_to_json(group) for group in comparison.by_class],
        "changes": [_group_to_json(group) for group in comparison.by_change],
        "tests": {
            outcome.value: [_test_to_json(test) for test in comparison.with_outcome(outcome)]
            for outcome in ScoreChange
        },
        "not_comparable": [
            {"reasons": [reason.value for reason in reasons], "tests": test_ids}
            for reasons, test_ids in comparison.not_comparable().items()
        ],
        "despite": {change.value: count for change, count in comparison.despite_changes().items()},
        "n_unverified": comparison.n_unverified,
        "times": asdict(comparison.times.times) if comparison.times.times else None,
        "times_problem": comparison.times.problem,
    }


def _overall_to_json(group: ComparedGroup) -> dict[str, Any]:
    few = len(group.tests) <= _RESAMPLED_UP_TO
    differences = [test.difference for test in group.tests]
    groups = [test.group for test in group.tests]
    resampled = bootstrap_interval(differences, groups) if few else None
    return {**_group_to_json(group), "bootstrap": asdict(resampled) if resampled else None}


def _group_to_json(group: ComparedGroup) -> dict[str, Any]:
    needed = group.needed
    return {
        "class_id": group.class_id,
        "changes": [change.value for change in group.changes],
        "n_tests": len(group.tests),
        "mean_before": group.mean_before,
        "mean_after": group.mean_after,
        "difference": asdict(group.difference),
        "p_value": group.p_value,
        "p_adjusted": group.p_adjusted,
        "verdict": verdict(group),
        "needed_tests": needed.tests,
        "needed_trials": needed.trials,
        "needed": needed.text,
        "smallest_difference": group.smallest_difference,
        **{f"n_{outcome.value}": group.count(outcome) for outcome in ScoreChange},
    }


def _test_to_json(test: ComparedTest) -> dict[str, Any]:
    return {
        "test_id": test.test_id,
        "class_id": test.class_id,
        "before": test.before,
        "after": test.after,
    }

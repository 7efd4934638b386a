"""Everything of a report for machines; also a file that later results can be compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from poor_bench import __version__
from poor_bench.models.result import result_to_record
from poor_bench.reports.comparison_json import comparison_to_json
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import GroupBy

FORMAT = "1.0"


def report_to_json(data: ReportData, by: GroupBy, runs: Mapping[str, Any]) -> str:
    """Return the report as one JSON document.

    Args:
        data: The report.
        by: What a row of figures stands for.
        runs: Run id to header of the run, so that who compares with this file knows the machines.
    """
    used = {result.run_id for result in data.results}
    document = {
        "version": FORMAT,
        "poor_bench": __version__,
        "created": data.created,
        "title": data.title,
        "summaries": data.summaries(by),
        "coverage": {llm_id: each.as_dict() for llm_id, each in data.coverage.items()},
        "n_results_of_removed_tests": data.n_removed,
        "ranks": data.ranking.ranks,
        "tie_groups": data.ranking.groups,
        "pairs": data.standing.pairs,
        "stratified": {
            "tests_weigh_alike": data.stratified(classes_weigh_alike=False),
            "classes_weigh_alike": data.stratified(classes_weigh_alike=True),
        },
        "reliability": data.reliabilities,
        "efforts": data.efforts,
        "issues": data.issue_groups,
        "format_tax": data.format_taxes,
        "comparison": _comparison(data),
        "runs": {run_id: header for run_id, header in runs.items() if run_id in used},
        "results": _records(data),
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(document, option=options, default=str).decode() + "\n"


def _comparison(data: ReportData) -> dict[str, Any] | None:
    base = data.base
    return comparison_to_json(base.before, base.after, base.llms) if base else None


def _records(data: ReportData) -> Sequence[dict[str, Any]]:
    return [result_to_record(result) for result in data.results]

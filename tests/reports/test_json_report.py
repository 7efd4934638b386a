from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from poor_bench.reports.json_report import report_to_json
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics import comparison
from poor_bench.statistics.significance import compute_sign_flip_p_values
from tests.reports.builders import make_report, make_results, with_base


def document(report: ReportData, runs: dict[str, Any] | None = None) -> Any:
    return json.loads("".join(report_to_json(replace(report, runs=runs or {}))))


def test_document_holds_figures_issues_and_results() -> None:
    told = document(make_report(make_results()))
    assert [row["group"]["llm_id"] for row in told["summaries"]] == ["good", "bad"]
    assert told["tie_groups"] == [["good"], ["bad"]]
    assert told["issues"]
    assert len(told["results"]) == 24
    assert told["comparison"] is None
    assert told["stratified"]["classes_weigh_alike"]["good"]["value"] == 1.0
    assert told["reliability"] == []


def test_only_runs_of_the_results_are_told() -> None:
    runs = {"r": {"machine": {"cpu": "x"}}, "other": {}}
    assert document(make_report(make_results()), runs)["runs"] == {"r": {"machine": {"cpu": "x"}}}


def test_comparison_is_part_of_it() -> None:
    results = make_results()
    told = document(with_base(make_report(results), results))["comparison"]
    assert (told["before"], told["after"]) == ("base", "now")
    good = next(llm for llm in told["llms"] if llm["llm_after"] == "good")
    assert (good["overall"]["bootstrap"]["value"], good["overall"]["needed_tests"]) == (0.0, None)
    assert {llm["llm_after"] for llm in told["llms"]} == {"good", "bad"}


def test_pairs_are_tested_once_for_ranks_tie_groups_and_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tested: list[int] = []

    def count(differences: Any, **how: Any) -> Any:
        tested.append(1)
        return compute_sign_flip_p_values(differences, **how)

    monkeypatch.setattr(comparison, "compute_sign_flip_p_values", count)
    told = document(make_report(make_results()))
    assert len(told["pairs"]) == len(tested) == 1

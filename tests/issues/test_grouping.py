from dataclasses import replace
from unittest.mock import Mock

import pytest

from poor_bench.issues.detect import (
    DETECTORS,
    collect_trials,
    detect_issues,
    find_issues,
    group_issues,
)
from poor_bench.issues.detector import IssueContext
from poor_bench.models.failure import FailureKind
from tests.issues.builders import failed, scored


def test_causes_are_ordered_by_what_they_cost() -> None:
    results = [
        scored(0.0, test_id="t1", response=""),
        scored(0.0, test_id="t2"),
        scored(0.0, test_id="t3"),
        failed(FailureKind.AUTH, test_id="t4"),
    ]
    groups = group_issues(detect_issues(results))
    assert [(group.detector_id, group.lost_score) for group in groups] == [
        ("score_zero", 2.0),
        ("no_answer", 1.0),
        ("failed_auth", 0.0),
    ]
    assert [group.n_trials for group in groups] == [2, 1, 1]
    assert sum(group.lost_share for group in groups) == pytest.approx(1.0)


def test_nothing_lost_gives_no_shares() -> None:
    [group] = group_issues(detect_issues([failed(FailureKind.AUTH)]))
    assert group.lost_share == 0.0


def test_examples_show_different_llms_first() -> None:
    results = [
        scored(0.0, llm_id=llm_id, test_id=test_id)
        for llm_id, test_id in [("a", "t1"), ("a", "t2"), ("a", "t3"), ("b", "t1"), ("b", "t2")]
    ]
    [group] = group_issues(detect_issues(results), n_examples=3)
    assert [(issue.llm_id, issue.test_id) for issue in group.examples] == [
        ("a", "t1"),
        ("b", "t1"),
        ("a", "t2"),
    ]
    assert group.n_by_llm == {"a": 3, "b": 2}


def test_texts_of_all_examples_are_read_at_once() -> None:
    results = [scored(0.0, test_id="t1", response=""), failed(FailureKind.AUTH, test_id="t2")]
    table = collect_trials(results, {}, DETECTORS)
    read = Mock(side_effect=table.read)
    groups = group_issues(find_issues(replace(table, read=read), IssueContext(), DETECTORS))
    assert [issue.test_id for group in groups for issue in group.examples] == ["t1", "t2"]
    assert [len(call.args[0]) for call in read.call_args_list if len(call.args[0])] == [2]


def test_no_issues_give_no_groups() -> None:
    assert group_issues([]) == []

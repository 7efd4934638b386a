from __future__ import annotations

from collections import Counter

import pytest

from poor_bench.models.result import Result
from poor_bench.results import table as result_table
from poor_bench.results.table import ResultTable
from poor_bench.runner.stale import StaleCheck, note_table
from poor_bench.runner.trial_states import TrialState, TrialStates
from poor_bench.statistics.summary import Group, StaleReason
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles


def store_two_scores(workspace_files: WorkspaceFiles) -> WorkspaceFolder:
    """Write a workspace with a model and two tests that it has passed."""
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    config = WorkspaceFolder(workspace_files.write())
    [llm], tests = config.workspace.llms, config.workspace.tests
    results = [Result(llm_id=llm.id, test_id=test.test_id, score=1.0) for test in tests]
    config.store.add(results, "20260101T000000-a", {})
    return config


def test_states_of_trials_give_back_the_columns_of_files_that_they_read(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = store_two_scores(workspace_files)
    runner = WorkspaceRunner(config)
    [llm], tests = runner.workspace.llms, runner.workspace.tests
    released: list[int] = []
    monkeypatch.setattr(ResultTable, "release", lambda table: released.append(len(table)))
    states = TrialStates([llm], tests, 1)
    note_table(states, config.store.table(), runner.fingerprints, runner.workspace.tests_by_id)
    assert states.count(0)[TrialState.DONE] == 2
    assert released == [2]


def test_of_scores_in_columns_only_stale_ones_are_listed_and_all_groups_counted(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    config = WorkspaceFolder(workspace_files.write())
    runner = WorkspaceRunner(config)
    [llm], tests = runner.workspace.llms, runner.workspace.tests
    results = [
        Result(
            llm_id=llm.id,
            test_id=test.test_id,
            score=1.0,
            request_fingerprint=runner.fingerprints.of_request(llm, test),
            evaluator_fingerprint=evaluator,
        )
        for test, evaluator in zip(tests, ("", "0" * 16, ""), strict=True)
    ]
    config.store.add(results, "20260101T000000-a", {})
    table = config.store.table()
    rows, counts = StaleCheck(config).find_rows(table)
    assert [table.value("test_id", row) for row in rows.tolist()] == [tests[1].test_id]
    stale = Counter({StaleReason.EVALUATOR: 1})
    assert counts == {
        Group(llm_id=llm.id, class_id=test.class_id, level=test.level): found
        for test, found in zip(tests, (Counter[StaleReason](), stale, Counter()), strict=True)
    }


def test_a_selection_of_rows_gives_back_each_column_that_it_read(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = store_two_scores(workspace_files)
    tests, table = config.workspace.tests, config.store.table()
    released: list[object] = []
    monkeypatch.setattr(result_table, "release_pages", released.append)
    chosen = table.select(table.find_entries("test_id", lambda name: name == tests[0].test_id))
    assert (len(chosen), chosen.value("test_id", 0)) == (1, tests[0].test_id)
    assert released == [[column] for column in table.columns.values()]

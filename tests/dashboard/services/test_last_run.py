from __future__ import annotations

from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.dashboard.pages.overview.changes import changes_card
from poor_bench.models.result import Result
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of


def test_the_last_run_is_compared_with_what_was_before(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    store = services.files.config().store
    llm_id = "scripted:one"
    first = [Result(llm_id=llm_id, test_id=f"sum_00{n}", score=1.0) for n in (1, 2)]
    store.add(first, "20260101T000000-a", {})
    assert services.last_run.changes() is None
    store.add([Result(llm_id=llm_id, test_id="sum_002", score=0.0)], "20260102T000000-b", {})
    last_run = services.last_run.changes()
    assert last_run is not None
    assert last_run.run_id == "20260102T000000-b"
    [comparison] = last_run.comparisons
    assert [test.test_id for test in comparison.with_outcome(ScoreChange.BROKEN)] == ["sum_002"]


def test_without_runs_there_is_nothing_to_compare(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    assert services_of(workspace_files.write()).last_run.changes() is None


def test_a_new_llm_is_new_and_compared_with_no_other_one(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    workspace_files.add_llm("two", "4")
    services = services_of(workspace_files.write())
    for name, score in (("one", 1.0), ("two", 0.0)):
        result = Result(llm_id=f"scripted:{name}", test_id="sum_001", score=score)
        services.files.config().store.add([result], f"20260101T000000-{name}", {})
    last_run = services.last_run.changes()
    assert last_run is not None
    assert last_run.comparisons == ()
    assert last_run.new_llm_ids == ("scripted:two",)
    card = text_of(changes_card(last_run, lambda llm_id: llm_id))
    assert "scripted:two" in card
    assert "new: no earlier results" in card
    assert "broken" not in card

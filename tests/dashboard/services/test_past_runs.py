"""What stored runs tell: changes of the last one, and scores of models over all."""

from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.dashboard.figures.scores import score_trend_figure
from poor_bench.dashboard.pages.overview import callbacks
from poor_bench.dashboard.pages.overview.cards import changes_card
from poor_bench.dashboard.services.past_runs import RunScore, newest_runs
from poor_bench.models.result import Result
from poor_bench.runs.history import EARLIER, StoredRun
from poor_bench.statistics.intervals import Estimate
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import of_type, text_of
from tests.waiting import wait_for


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
    assert "new" in card
    assert "broken" not in card


def test_each_run_of_a_model_has_its_score_and_its_number_of_tests(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    workspace_files.add_llm("once", "4")
    services = services_of(workspace_files.write())
    store = services.files.config().store
    for day, score in ((1, 1.0), (2, 0.0), (3, 0.5)):
        results = [Result(llm_id="scripted:one", test_id="sum_001", score=score)]
        results += [Result(llm_id="scripted:one", test_id="sum_002", score=score)] * (day < 3)
        results += [Result(llm_id="scripted:once", test_id="sum_002", score=1.0)] * (day == 1)
        store.add(results, f"2026010{day}T000000-a", {})
    wait_for(lambda: callbacks.trend(services)[1])
    card, _ = callbacks.trend(services)
    assert "Score over runs" in text_of(card)
    [graph] = of_type(card, "Graph")
    whole, part = graph.figure.data
    assert list(whole.y) == [1.0, 0.0]
    assert [told[3] for told in whole.customdata] == [2, 2]
    assert (list(part.x), list(part.y), list(part.text)) == ([2.925], [0.5], ["n = 1"])
    assert (part.mode, part.marker.symbol) == ("markers+text", f"{whole.marker.symbol}-open")
    assert "Hollow: not all tests" in text_of(card)
    found = services.trends.ask().value
    assert found is not None
    figure = score_trend_figure(found, lambda _llm_id: "<a href=x>")
    assert "<a href" not in str(figure.data[0].name)


def test_numbers_of_tests_do_not_cover_each_other() -> None:
    def points(last: float) -> list[RunScore]:
        known = [("a", 2, 0.5), ("b", 1, last)]
        return [
            RunScore(
                run_id=run,
                started=f"2026-01-0{n}",
                score=Estimate(value=at, low=at, high=at, n=n),
                n_tests=n,
            )
            for run, n, at in known
        ]

    figure = score_trend_figure({"x": points(0.50), "y": points(0.52), "z": points(0.9)}, str)
    texts = [list(trace.text) for trace in figure.data if trace.text]
    assert texts == [[""], [""], ["n = 1"]]


@pytest.mark.parametrize(
    ("most", "names"), [(0, []), (10, ["c"]), (25, ["a", "c"]), (99, ["a", "c"])]
)
def test_the_newest_runs_are_read_as_far_as_they_are_small(
    most: int, names: list[str], tmp_path: Path
) -> None:
    runs = []
    for name, kind in (("a", ""), ("b", EARLIER), ("c", "")):
        path = tmp_path / name
        path.write_text("12345678")
        runs.append(StoredRun(run_id=name, path=path, header={"kind": kind}))
    assert [run.run_id for run in newest_runs(runs, most)] == names

"""kill -9 of the console and the dashboard: what was stored stays, is shown as it is, and goes on.

Each process kills itself before a certain line of its journal, so no test has to hit a moment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.dashboard.pages.run import callbacks
from poor_bench.dashboard.services.run_state import RunPhase
from poor_bench.judge.storage import PairwiseStore
from poor_bench.models.result import Result
from poor_bench.runner.selection import Selection
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of
from tests.judge.agent_workspace import write_workspace
from tests.runner.test_judged_run import judged_workspace, verdict
from tests.runs.killed import kill_console, kill_dashboard

pytestmark = pytest.mark.slow(reason="kills whole consoles and dashboards")

N_TESTS = 3


def stored(folder: Path) -> dict[str, Result]:
    return {result.test_id: result for result in WorkspaceFolder(folder).load_results()}


def waiting_then_judged(files: WorkspaceFiles) -> Path:
    """A workspace whose run writes a header, three responses and three judged results."""
    return judged_workspace(files, verdict(7), n_tests=N_TESTS)


@pytest.mark.parametrize(("n_lines", "n_scored"), [(3, 0), (4, 0), (6, 2)])
def test_a_killed_run_with_a_judge_goes_on_where_it_was(
    workspace_files: WorkspaceFiles, capsys: Any, n_lines: int, n_scored: int
) -> None:
    folder = waiting_then_judged(workspace_files)
    kill_console(n_lines, "--data", str(folder), "run")
    before = stored(folder)
    assert len(before) == min(n_lines - 1, N_TESTS)
    assert sum(result.score == 0.7 for result in before.values()) == n_scored
    assert main(["--data", str(folder), "run", "--json"]) == 0
    n_first = len(before) - n_scored
    told = json.loads(capsys.readouterr().out)
    assert (told["rescored"]["n_first_scored"], told["rescored"]["changed"]) == (n_first, [])
    after = stored(folder)
    assert [result.score for result in after.values()] == [0.7] * N_TESTS
    for test_id, result in before.items():
        assert after[test_id].timestamp == result.timestamp  # nobody was asked again


def test_judging_what_a_killed_run_left_is_not_called_a_changed_evaluator(
    workspace_files: WorkspaceFiles, capsys: Any
) -> None:
    folder = waiting_then_judged(workspace_files)
    kill_console(4, "--data", str(folder), "run")
    assert main(["--data", str(folder), "run"]) == 0
    told = capsys.readouterr().out
    assert "3 stored responses scored for the first time." in told
    assert "evaluator changed" not in told


@pytest.mark.parametrize(("n_lines", "n_done"), [(2, 0), (6, 2)])
def test_a_killed_dashboard_shows_its_run_as_stopped_and_continues_it(
    workspace_files: WorkspaceFiles, n_lines: int, n_done: int
) -> None:
    folder = waiting_then_judged(workspace_files)
    kill_dashboard(n_lines, folder)
    before = stored(folder)
    services = services_of(folder)
    state = services.runs.state()
    assert (state.phase, state.n_done, state.n_items) == (RunPhase.INTERRUPTED, n_done, N_TESTS)
    assert not state.is_active
    body, _, head, is_still, _ = callbacks.state(services)
    assert is_still
    assert "Stopped early, results stored" in text_of(head)
    assert f"{n_done} of 3 trials" in text_of(body)
    services.runs.start(Selection())
    services.runs.wait()
    state = services.runs.state()
    assert state.phase is RunPhase.FINISHED
    assert (state.n_moved, state.n_rescored) == (0, 0)
    assert state.n_first_scored == len(before) - n_done
    assert [result.score for result in stored(folder).values()] == [0.7] * N_TESTS
    assert services_of(folder).runs.state().phase is RunPhase.IDLE


def test_a_killed_comparison_says_that_it_is_incomplete_and_goes_on(
    tmp_path: Path, capsys: Any
) -> None:
    tie = json.dumps({"reason": "alike", "winner": "tie"})
    folder = write_workspace(tmp_path, duellist=tie)
    data = ("--data", str(folder), "judge")
    judged = (*data, "run", "bikes", "--judge", "scripted:judge")
    assert main(list(judged)) == main(list(judged)) == 0
    [a, b] = sorted(path.stem for path in (folder / "judgements").glob("*.jsonl"))
    pair = (*data, "pairwise", a, b, "--judge", "scripted:duellist")
    kill_console(2, *pair)
    kept = PairwiseStore(folder).find("last")
    assert (len(kept.comparisons), kept.n_planned) == (1, 2)
    capsys.readouterr()
    assert main([*data, "pairwise", "last"]) == 0
    shown = capsys.readouterr().out
    assert "Incomplete: 1 of 2 pairs judged." in shown
    assert f"judge pairwise --resume {kept.run_id}" in shown
    assert main([*data, "pairwise"]) == 0
    assert "incomplete" in capsys.readouterr().out
    assert main([*data, "pairwise", "--resume", "last"]) == 0
    [whole] = PairwiseStore(folder).runs()
    assert len(whole.comparisons) == 2
    assert whole.comparisons[:1] == kept.comparisons
    [stored_run] = PairwiseStore(folder).history.runs()
    asked = [record["duel"]["case_id"] for record in stored_run.records()]
    assert len(asked) == len(set(asked)) == 2
    capsys.readouterr()
    assert main([*data, "pairwise", "last"]) == 0
    assert "Incomplete" not in capsys.readouterr().out


SWEEP = ("tune", "params", "all", "--llm", "scripted:small", "--param", "responses=is4,is5")


@pytest.mark.parametrize("n_lines", [2, 9, 24])
def test_a_killed_search_for_parameters_ends_as_if_it_had_not_been_killed(
    tmp_path: Path, capsys: Any, n_lines: int
) -> None:
    """Killed while its variants are noted, between the results of a step, and between steps."""
    whole, killed = (tuned_workspace(tmp_path / name) for name in ("whole", "killed"))
    assert main(["--data", str(whole), *SWEEP, "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    kill_console(n_lines, "--data", str(killed), *SWEEP)
    before = stored_by_model(killed)
    assert main(["--data", str(killed), "tune", "params", "--resume", "last", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    compared = ("n_calls", "stopped", "verdict", "best", "n_failed")
    assert [found[key] for key in compared] == [expected[key] for key in compared]
    scores = [
        {row["variant_id"]: (row["score"], row["dropped_for"]) for row in report["variants"]}
        for report in (found, expected)
    ]
    assert scores[0] == scores[1]
    after = stored_by_model(killed)
    assert {key: after[key].timestamp for key in before} == {
        key: result.timestamp for key, result in before.items()
    }
    journals = [path.read_text() for path in (killed / "runs").glob("*.jsonl")]
    assert sum(text.count('"test_id"') for text in journals) == found["n_calls"]


def tuned_workspace(folder: Path) -> Path:
    files = WorkspaceFiles(folder)
    files.add_tests(12)
    files.add_llm("small", "no idea")
    return files.write()


def stored_by_model(folder: Path) -> dict[tuple[str, str], Result]:
    results = WorkspaceFolder(folder).store.results()
    return {(result.llm_id, result.test_id): result for result in results}

"""Every screen counts trials in the same way."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.dashboard.pages.compare.strip import strip
from poor_bench.dashboard.pages.compare.view import open_view
from poor_bench.dashboard.pages.model.view import model_tiles
from poor_bench.dashboard.pages.overview import callbacks
from poor_bench.results.grid import trial_grid
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of

FAILURE = {"kind": "connection", "message": "refused"}
CRASH = {"kind": "evaluator", "message": "broke"}


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    """Ten tests: six scored, two of them with a newer failure; three failed, one pending.

    One failed trial has an answer whose evaluator crashed. Two more scores and a failure belong to
    removed tests.
    """
    workspace_files.add_tests(10)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    tests = [f"sum_{number:03}" for number in range(1, 11)]
    rows = [{"test_id": test_id, "score": 0.5} for test_id in (*tests[:6], "gone_1", "gone_2")]
    failed = [{"test_id": test_id, "failure": FAILURE} for test_id in (*tests[4:8], "gone_1")]
    crashed = {"test_id": tests[8], "failure": CRASH, "response": "4"}
    document = {
        "version": "1.0",
        "results": {"scripted:a": [*rows[:6], *({**row, "score": 1.0} for row in rows[6:])]},
        "failures": {"scripted:a": [*failed, crashed]},
    }
    (folder / "results.json").write_text(json.dumps(document))
    return folder


def printed(capsys: pytest.CaptureFixture[str], folder: Path, *command: str) -> str:
    capsys.readouterr()
    main(["--data", str(folder), *command])
    return capsys.readouterr().out


def test_status_counts_a_scored_trial_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [row] = json.loads(printed(capsys, folder, "status", "--json"))["llms"]
    assert {name: row[name] for name in ("total", "done", "pending", "failed")} == {
        "total": 10,
        "done": 6,
        "pending": 1,
        "failed": 3,
    }
    assert (row["stale_request"], row["stale_score"], row["newer_failed"]) == (0, 0, 2)
    assert "Newer attempt failed" in printed(capsys, folder, "status")


def test_report_counts_like_status_in_every_format(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(printed(capsys, folder, "report", "--json"))
    [row] = document["summaries"]
    assert (row["n_scored"], row["n_failed"], row["n_newer_failed"]) == (6, 3, 2)
    assert row["failures"] == {"connection": 2, "evaluator": 1}
    assert row["score"]["value"] == 0.5
    suite = ET.fromstring(printed(capsys, folder, "report", "--format", "junit"))[0]
    assert (suite.get("tests"), suite.get("errors")) == ("9", "3")
    assert len(suite.findall("testcase/error")) == 3
    for form in ("table", "md", "html"):
        shown = printed(capsys, folder, "report", "--format", form)
        assert "3 of 9 trials failed to run and count in no score." in shown
        assert "A newer attempt failed on 2 scored trials; the stored scores count." in shown


@pytest.mark.parametrize("command", ["--help", "run --help", "gate --help", "report --format html"])
def test_one_word_names_a_failure_of_ours(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    shown = " ".join(printed(capsys, folder, *command.split()).split())
    assert "could not be run" not in shown
    assert "failed to run" in shown


def test_gates_see_the_same_share(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["gate", "--min-scored-share", "0.6", "--json"]
    [outcome] = [
        row for row in json.loads(printed(capsys, folder, *command))["gates"]
        if row["gate"] == "min_scored_share"
    ]  # fmt: skip
    assert outcome["observed"] == 0.6
    assert outcome["status"] == "passed"


def test_dashboard_counts_the_same(folder: Path) -> None:
    services = services_of(folder)
    [row] = callbacks.leaderboard_rows(services)
    assert (row["average_score"], row["total_tests"]) == (0.5, 6)
    assert (row["failed"], row["newer_failed"]) == (3, 2)
    [summary] = services.results.summaries(callbacks.GroupBy.LLM)
    assert "1 evaluator, 2 newer attempts of scored trials" in text_of(model_tiles(summary, None))
    tests = services.files.workspace().tests_by_id
    grid = trial_grid(services.results.table(), tests, ["scripted:a"])
    assert grid.n_failed.sum() == 3


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_every_screen_says_that_removed_tests_do_not_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "3 results of removed tests (not in tests.json) are not counted"
    for form in ("table", "md", "html"):
        assert words in printed(capsys, folder, "report", "--format", form)
    document = json.loads(printed(capsys, folder, "report", "--json"))
    assert document["n_results_of_removed_tests"] == 3
    assert words in " ".join(printed(capsys, folder, "doctor").split())
    assert words in printed(capsys, folder, "status")
    assert words in printed(capsys, folder, "run", "--test", "sum_010")
    for command in ("status", "run"):
        document = json.loads(printed(capsys, folder, command, "--test", "sum_010", "--json"))
        assert document["n_results_of_removed_tests"] == 3
    assert words in callbacks.note(services_of(folder))
    assert "gone_1 (removed)" in printed(capsys, folder, "results")
    analysed: Any = json.loads(printed(capsys, folder, "tests", "analyse", "--json"))
    assert not any(row["test_id"].startswith("gone") for row in analysed["tests"])


def test_results_of_a_removed_test_are_shown_by_its_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = printed(capsys, folder, "results", "gone_2")
    assert "gone_2" in shown
    assert "1.0" in shown
    assert main(["--data", str(folder), "results", "gone_3"]) == 2
    assert "`gone_2`" in capsys.readouterr().err


def test_removed_tests_count_again_when_they_are_back(
    folder: Path, workspace_files: WorkspaceFiles
) -> None:
    services = services_of(folder)
    assert callbacks.leaderboard_rows(services)[0]["total_tests"] == 6
    workspace_files.add_tests(1, test_id="gone_1")
    workspace_files.write()
    services.files.config().reload()
    again = services_of(folder)
    assert callbacks.leaderboard_rows(again)[0]["total_tests"] == 7


@pytest.fixture
def uneven(workspace_files: WorkspaceFiles) -> Path:
    """`part` scores 1.0 on half of the tests, `whole` and `nearly` less on all or nearly all."""
    workspace_files.add_tests(20)
    scored = {"whole": (20, 0.7), "part": (10, 1.0), "nearly": (19, 0.2)}
    for name in scored:
        workspace_files.add_llm(name, "4")
    folder = workspace_files.write()
    results = {
        f"scripted:{name}": [
            {"test_id": f"sum_{number:03}", "score": score} for number in range(1, n_tests + 1)
        ]
        for name, (n_tests, score) in scored.items()
    }
    (folder / "results.json").write_text(json.dumps({"version": "1.0", "results": results}))
    return folder


WARNING = "10 of 20 tests; no rank"


@pytest.mark.parametrize("form", ["table", "md", "html"])
def test_an_llm_that_saw_too_few_tests_is_never_called_the_best(
    uneven: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    shown = printed(capsys, uneven, "report", "--format", form)
    assert WARNING in shown
    best = "scripted:whole{} is significantly better than every other comparable model"
    assert best.format("`" if form == "md" else "") in shown
    assert "has 10 of 20 tests: too few to call it the best." in shown


def test_machines_are_told_who_is_comparable(
    uneven: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(printed(capsys, uneven, "report", "--json"))
    assert [row["group"]["llm_id"][9:] for row in document["summaries"]] == [
        "part",
        "whole",
        "nearly",
    ]
    told = {key[9:]: value["is_comparable"] for key, value in document["coverage"].items()}
    assert told == {"whole": True, "part": False, "nearly": True}


def test_the_overview_and_the_end_of_a_run_warn_as_well(
    uneven: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    services = services_of(uneven)
    rows = callbacks.leaderboard_rows(services)
    assert [row["id"][9:] for row in rows] == ["part", "whole", "nearly"]
    assert [row["coverage"] for row in rows] == [WARNING, None, "19 of 20 tests"]
    assert WARNING in rows[0]["status"]
    columns = callbacks.columns_for(rows)
    assert all("sort" not in column for column in columns)
    assert "newer_failed" not in {column["field"] for column in columns}
    view = open_view(services, "")
    assert WARNING in text_of(strip(view.strip_lines(None), view.url, is_ready=False))
    assert "1 model excluded: not comparable" in text_of(callbacks.charts(services)[1])
    shown = printed(capsys, uneven, "run", "--llm", "*part", "--llm", "*whole", "--test",
                    "sum_001")  # fmt: skip
    assert WARNING not in shown

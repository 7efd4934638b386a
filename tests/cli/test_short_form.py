from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.dashboard.pages.overview.callbacks import leaderboard_rows
from poor_bench.models.result import Result
from poor_bench.report_generator import ReportGenerator
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of


def write_workspace(files: WorkspaceFiles, n_models: int) -> Path:
    """Write twenty tests, and models that each pass some more of them than the one before."""
    files.add_tests(20, tags=["kept", "short"])
    for model in range(n_models):
        files.add_llm(f"m{model}", "4")
    files.add_llm("new", "4")
    folder = files.write()
    WorkspaceFolder(folder).store.add(
        (
            Result(
                llm_id=f"scripted:m{model}",
                test_id=f"sum_{test:03}",
                score=float(test * 7 % 20 < 6 + 2 * model),
            )
            for model in range(n_models)
            for test in range(1, 21)
        ),
        "20260101T000000-a",
        {},
    )
    return folder


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def tags_of(folder: Path) -> dict[str, list[str]]:
    entries = json.loads((folder / "tests.json").read_text())["tests"]
    return {entry["test_id"]: entry.get("tags", []) for entry in entries}


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_a_model_that_ran_the_tagged_tests_has_its_full_score_predicted_on_all_screens(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, 6)
    texts = [
        {**test, "tags": []} for test in json.loads((folder / "tests.json").read_text())["tests"]
    ]
    assert call(folder, "tests", "select", "--keep", "25%") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "5 of 20 tests, tagged `short`: sums 5. Predicts the full score within ±" in shown
    assert "learnt from 6 different models" in shown
    after = json.loads((folder / "tests.json").read_text())["tests"]
    assert [{**test, "tags": []} for test in after] == texts
    tagged = [key for key, tags in tags_of(folder).items() if "short" in tags]
    assert len(tagged) == 5
    assert all("kept" in tags for tags in tags_of(folder).values())
    assert call(folder, "run", "--tag", "short", "--llm", "scripted:new") == 0
    capsys.readouterr()
    assert call(folder, "report", "--json") == 0
    predicted = json.loads(capsys.readouterr().out)["predicted_scores"]["scripted:new"]
    text = f"{predicted['value']:.3f}"
    assert predicted["low"] < predicted["value"] <= predicted["high"]
    assert call(folder, "report") == 0
    console = capsys.readouterr().out
    assert f"scripted:new: {text} (" in console
    assert "is predicted for all 20 tests from 5 of the short form." in console
    for form in ("md", "html"):
        page = ReportGenerator(WorkspaceFolder(folder)).render(form)
        assert "Predicted" in page
        assert text in page
    [row] = [row for row in leaderboard_rows(services_of(folder)) if row["id"] == "scripted:new"]
    assert row["predicted_score"] == pytest.approx(predicted["value"])


def test_dry_run_lists_the_tests_and_changes_nothing(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, 6)
    before = (folder / "tests.json").read_text()
    assert call(folder, "tests", "select", "--keep", "4", "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["tests"]), found["is_learnt"], found["is_tagged"]) == (4, True, False)
    assert (folder / "tests.json").read_text() == before


def test_too_few_models_give_a_random_choice_and_say_so(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, 2)
    assert call(folder, "tests", "select", "--keep", "25%", "--dry-run") == 0
    assert "Chosen at random" in capsys.readouterr().out


@pytest.mark.parametrize("keep", ["0", "0%", "many", "101%", "21"])
def test_a_share_that_is_none_is_refused(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], keep: str
) -> None:
    folder = write_workspace(workspace_files, 1)
    assert call(folder, "tests", "select", "--keep", keep) == 2
    assert "--keep" in capsys.readouterr().err

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from poor_bench.labels.storage import LABELS_FILE
from poor_bench.models.result import Result
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    made = workspace_files.write()
    results = [
        Result(llm_id="scripted:a", test_id=test["test_id"], score=score, response=text)
        for test, score, text in zip(workspace_files.tests, (0.0, 1.0), ("four", "4"), strict=True)
    ]
    WorkspaceFolder(made).store.add(results, "20260101T000000-a", {})
    return made


def fill_in(folder: Path, capsys: pytest.CaptureFixture[str], score: str) -> Path:
    capsys.readouterr()
    assert call(folder, "ratings", "export", "--unrated") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    sheet = folder / "sheet.csv"
    with sheet.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(row | {"score": score} for row in rows)
    return sheet


def test_a_filled_in_sheet_tells_where_people_disagree(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "ratings") == 0
    assert "No ratings yet" in capsys.readouterr().out
    sheet = fill_in(folder, capsys, "1")
    assert call(folder, "ratings", "import", str(sheet), "--who", "Ann") == 0
    assert "Added 2 ratings." in capsys.readouterr().out
    assert call(folder, "ratings", "agreement", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [(each["class_id"], each["n_disputed"]) for each in report["evaluators"]] == [
        ("", 1),
        ("sums", 1),
    ]
    assert call(folder, "ratings") == 0
    printed = capsys.readouterr().out
    assert "n/a" in printed
    assert "issues people_disagree" in printed
    assert call(folder, "issues", "people_disagree") == 0
    assert "1 person: 1.00, evaluator: 0.00" in capsys.readouterr().out


def test_a_sheet_that_is_imported_again_adds_what_changed_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = fill_in(folder, capsys, "1")
    assert call(folder, "ratings", "import", str(sheet), "--who", "Ann") == 0
    stored = (folder / LABELS_FILE).read_bytes()
    assert call(folder, "ratings", "import", str(sheet), "--who", "Ann") == 0
    assert "Added 0 ratings, 2 known already." in capsys.readouterr().out
    assert (folder / LABELS_FILE).read_bytes() == stored
    for before, after in (("1", "0"), ("0", "1")):  # back again is a change, too
        text = sheet.read_text().replace(f",1,{before},", f",1,{after},")
        sheet.write_text(text, newline="")
        assert call(folder, "ratings", "import", str(sheet), "--who", "Ann") == 0
        assert "Added 2 ratings." in capsys.readouterr().out


def test_ratings_move_to_another_workspace_and_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "ratings", "import", str(fill_in(folder, capsys, "0.5"))) == 0
    before = (folder / LABELS_FILE).read_bytes()
    capsys.readouterr()
    for form in ("jsonl", "csv"):
        assert call(folder, "ratings", "export", "--format", form) == 0
        kept = folder / f"kept.{form}"
        kept.write_text(capsys.readouterr().out, newline="")
        assert call(folder, "ratings", "import", str(kept)) == 0
        assert "Added 0 ratings, 2 known already." in capsys.readouterr().out
    assert (folder / LABELS_FILE).read_bytes() == before


def test_a_rating_of_an_older_answer_counts_for_nothing_and_is_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "ratings", "import", str(fill_in(folder, capsys, "1"))) == 0
    [first, *_] = WorkspaceFolder(folder).workspace.tests
    newer = Result(llm_id="scripted:a", test_id=first.test_id, score=0.0, response="newer")
    WorkspaceFolder(folder).store.add([newer], "20260102T000000-b", {})
    capsys.readouterr()
    assert call(folder, "ratings") == 0
    assert "1 rated answer not stored here, or replaced since." in capsys.readouterr().out


def test_a_sheet_with_rubbish_is_refused_whole_with_the_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = folder / "bad.csv"
    sheet.write_text("llm_id,test_id,score\nscripted:a,nothing,1\n")
    assert call(folder, "ratings", "import", str(sheet)) == 2
    printed = capsys.readouterr().err
    assert f"1 row of {sheet} not valid; nothing is imported" in printed
    assert "bad.csv:2: no answer of 'scripted:a' to 'nothing' in trial 1" in printed
    assert not (folder / LABELS_FILE).exists()


@pytest.mark.parametrize("row", ["scripted:a,nothing,\n", '"scripted:a,nothing,1\n'])
def test_a_sheet_without_ratings_or_with_an_open_quote_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], row: str
) -> None:
    sheet = folder / "empty.csv"
    sheet.write_text(f"llm_id,test_id,score\n{row}")
    assert call(folder, "ratings", "import", str(sheet)) == 2
    assert "empty.csv has no ratings" in capsys.readouterr().err


def test_the_older_name_of_the_pass_score_works_and_is_not_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "ratings", "import", str(fill_in(folder, capsys, "0.5"))) == 0
    capsys.readouterr()
    assert call(folder, "ratings", "agreement", "--pass-score", "0.5", "--json") == 0
    by_new_name = capsys.readouterr().out
    assert call(folder, "ratings", "agreement", "--pass-mark", "0.5", "--json") == 0
    assert capsys.readouterr().out == by_new_name
    assert call(folder, "ratings", "agreement", "--help") == 0
    shown = capsys.readouterr().out
    assert "--pass-score" in shown
    assert "--pass-mark" not in shown

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.config.load import load_workspace
from tests.conftest import WorkspaceFiles

QUESTIONS = "question,A,B,answer\nWhich?,x,y,B\nWho?,x,y,C\nWhat?,x,y,A\n"


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    return workspace_files.write()


@pytest.fixture
def questions(tmp_path: Path) -> str:
    path = tmp_path / "questions.csv"
    path.write_text(QUESTIONS, encoding="utf-8")
    return str(path)


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "tests", *arguments])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_file_is_recognised_proven_and_added(
    folder: Path, questions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "import", questions, "--class", "quiz", "--level", "3", "--json") == 0
    report = json_of(capsys)
    assert report["added"] == ["quiz_0001", "quiz_0003"]
    assert report["refused"] == ["row 2: the answer 'C' is not one of the choices"]
    test = load_workspace(folder).tests_by_id["quiz_0003"]
    assert (test.class_id, test.level, test.text) == ("quiz", 3, "What?\n\nA) x\nB) y")


def test_importing_again_changes_nothing(
    folder: Path, questions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, "import", questions)
    before = (folder / "tests.json").read_bytes()
    capsys.readouterr()
    assert call(folder, "import", questions) == 0
    assert "Already there, unchanged: 2" in capsys.readouterr().out
    assert (folder / "tests.json").read_bytes() == before


def test_parameters_that_the_evaluator_refuses_are_told_like_everywhere(
    folder: Path, questions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ["--column", "text=question", "--column", "parameters.expcted=answer"]
    assert call(folder, "import", questions, "--class", "quiz", *columns) == 1
    output = capsys.readouterr().out
    assert "expcted: unknown parameter (did you mean `expected`?)" in output
    assert "pydantic" not in output
    assert "quiz" not in load_workspace(folder).test_classes


def test_a_dry_run_adds_nothing(folder: Path, questions: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert call(folder, "import", questions, "--dry-run") == 0
    assert sorted(path.name for path in folder.iterdir()) == before
    assert "multiple_choice" not in load_workspace(folder).test_classes


@pytest.mark.parametrize(
    ("options", "rows"),
    [(["--limit", "1"], 1), (["--sample", "2", "--seed", "3"], 2), (["--sample", "9"], 3)],
)
def test_some_of_the_rows_can_be_chosen(
    folder: Path,
    questions: str,
    options: list[str],
    rows: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(folder, "import", questions, *options, "--json") == 0
    report = json_of(capsys)
    assert len(report["added"]) + len(report["refused"]) == rows


def test_tests_that_their_evaluator_cannot_pass_are_left_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"q": "x", "a": "4"}\n{"q": "y", "a": "5"}\n', encoding="utf-8")
    columns = ["--column", "text=q", "--column", "reference_response=a"]
    assert call(folder, "import", str(path), *columns, "--evaluator", "has_expected") == 0
    out = capsys.readouterr().out
    assert "1 test of class columns added" in out
    assert "columns_0002: its reference response scores 0, not 1.0" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "{questions}", "--format", "mbp"], "mbpp"),
        (["import", "{questions}", "--column", "txt=question"], "`text`"),
        (["import", "{questions}", "--column", "question"], "KEY=VALUE"),
        (["import", "nothing.csv"], "nothing.csv"),
        (["import", "{questions}", "--column", "text=A", "--evaluator", "nobody"], "nobody"),
        (["generate", "arithmetics"], "arithmetic"),
        (["generate", "lists", "--level", "3-9"], "levels 1 to 5"),
    ],
)
def test_wrong_arguments_are_one_clear_message(
    folder: Path,
    questions: str,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(folder, *(part.format(questions=questions) for part in arguments)) == 2
    assert message in capsys.readouterr().err


def test_generated_tests_are_added_with_their_class(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "generate", "lists", "--count", "4", "--level", "2-3") == 0
    assert "4 tests of class lists added" in capsys.readouterr().out
    workspace = load_workspace(folder)
    assert [test.level for test in workspace.tests if test.class_id == "lists"] == [2, 2, 3, 3]


def test_without_a_name_the_generators_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "generate", "--json") == 0
    names = {generator["name"] for generator in json_of(capsys)["generators"]}
    assert {"arithmetic", "lists", "strings", "code"} <= names


MAPPED = ("--column", "text=review", "--column", "parameters.expected=mood")


def imported(folder: Path, tmp_path: Path, table: str, *options: str) -> int:
    path = tmp_path / "table.csv"
    path.write_text(table, encoding="utf-8")
    return call(folder, "import", str(path), *MAPPED, *options)


def test_a_column_that_is_not_there_is_told_with_those_that_are(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(folder, tmp_path, "reviews;mood\nGood;positive\n") == 2
    told = capsys.readouterr().err
    assert "table.csv has no column `review`" in told
    assert "known: `reviews;mood`" in told


def test_what_the_workspace_would_refuse_is_left_out_row_by_row(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "id,review,mood,level\na,Good,yes,1\na,Bad,no,1\nb,Ugly,no,0\nc,Fine,,1\n"
    options = ("--column", "test_id=id", "--column", "level=level", "--class", "mood", "--json")
    assert imported(folder, tmp_path, table, *options) == 0
    report = json_of(capsys)
    assert report["added"] == ["mood_a"]
    assert report["refused"] == [
        "row 2: the id `mood_a` is that of row 1",
        "row 3: the level 0 is not from 1 to 1000",
        "mood_c: expected[0]: string should have at least 1 character",
    ]


def test_a_text_of_a_megabyte_is_no_obstacle(folder: Path, tmp_path: Path) -> None:
    assert imported(folder, tmp_path, f"review,mood\n{'x' * 1_000_000},yes\n") == 0
    assert "columns_0001" in load_workspace(folder).tests_by_id

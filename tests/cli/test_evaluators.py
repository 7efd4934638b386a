from __future__ import annotations

import json

import pytest

from poor_bench.cli.main import main


@pytest.fixture
def run(workspace_files, capsys):
    """Return a function that runs a command and returns exit code, output and errors."""
    data = str(workspace_files.write())

    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = main(["--data", data, "evaluators", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


def test_list_names_evaluators_of_project_and_workspace(run):
    code, out, _ = run()
    assert code == 0
    assert "math_evaluator" in out
    assert "Full marks for the expected text." in out


def test_list_says_what_each_takes(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = run("list")
    row = next(line for line in out.splitlines() if line.lstrip().startswith("number_match"))
    assert row.rstrip().endswith(", relative_tolerance?, strict?, locale?")


def test_broken_evaluator_is_reported_and_the_others_listed(run, workspace_files):
    (workspace_files.folder / "evaluators" / "broken.py").write_text("1 / 0")
    code, out, err = run("list")
    assert code == 0
    assert "has_expected" in out
    assert "broken.py cannot be imported: ZeroDivisionError" in err


def test_list_as_json_has_schemas(run):
    _, out, _ = run("list", "--json")
    listed = {row["name"]: row for row in json.loads(out)["evaluators"]}
    assert "expected_answer" in listed["math_evaluator"]["parameters_schema"]["properties"]


def test_show_tells_every_parameter(run):
    code, out, _ = run("show", "choice")
    assert code == 0
    assert "Compares the selected choice of a multiple-choice answer" in out
    assert "Label of the correct choice." in out
    assert "list of string" in out


def test_show_of_unknown_evaluator_names_the_nearest(run):
    code, _, err = run("show", "choise")
    assert code == 2
    assert "`choice`" in err


def test_new_writes_evaluator_and_test(run, workspace_files):
    code, out, _ = run("new", "word_count")
    folder = workspace_files.folder / "evaluators"
    assert code == 0
    assert (folder / "word_count.py").exists()
    assert str(folder / "tests" / "test_word_count.py") in out
    assert run("new", "word_count")[0] == 2


@pytest.mark.parametrize(
    ("name", "example"), [("NAME", "name"), ("Word-Count", "word_count"), ("!", "word_count")]
)
def test_new_proposes_a_valid_name(run, name, example):
    code, _, err = run("new", name)
    assert code == 2
    assert f"such as `{example}`" in err

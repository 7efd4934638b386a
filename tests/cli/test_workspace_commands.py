from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(4)
    workspace_files.add_llm("a", "4")
    return workspace_files.write()


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def rewrite_tests(folder: Path, **changes: Any) -> None:
    path = folder / "tests.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["tests"] = [{**test, **changes} for test in content["tests"]]
    path.write_text(json.dumps(content), encoding="utf-8")


def test_init_makes_a_workspace_and_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "new")]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path / "new" / "tests.json") in out
    assert f"--data {tmp_path / 'new'} run" in out


def test_init_without_a_folder_takes_that_of_data(tmp_path: Path) -> None:
    assert call(tmp_path / "new", "init") == 0
    assert (tmp_path / "new" / "llms.json").exists()


def test_init_refuses_to_overwrite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "tests.json").read_bytes()
    assert call(folder, "init") == 2
    assert "tests.json" in capsys.readouterr().err
    assert (folder / "tests.json").read_bytes() == before


def test_validate_of_a_sound_workspace_ends_with_0(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "validate") == 0
    assert "4 tests in 1 class, 1 model: 0 errors, 2 warnings" in capsys.readouterr().out


def test_validate_shows_every_problem_and_ends_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite_tests(folder, class_id="summs", level=0)
    assert call(folder, "validate", "--json") == 2
    report = json_of(capsys)
    assert report["valid"] is False
    assert [problem["place"] for problem in report["problems"]] == [
        f"tests[{index}].level" for index in range(4)
    ]


def test_validate_looks_into_the_files_of_agents(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "agents").mkdir()
    (folder / "agents" / "a.yaml").write_text("llm: nobody\nsystem_prompt: x\ncases: []\n")
    assert main(["--data", str(folder), "validate"]) == 2
    assert "cases" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("config.yaml", "sandbos: limits", "unknown key `sandbos`"),
        ("config.yaml", "[" * 30_000, "nested more than 100 levels deep"),
        ("gates.yaml", "gates: [{min_scor: 1}]", "min_scor"),
    ],
)
def test_validate_looks_into_settings_and_gates(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, told: str
) -> None:
    (folder / name).write_text(content)
    assert call(folder, "validate") == 2
    assert told in capsys.readouterr().out.replace("\n", " ")


def test_validate_proves_the_references(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite_tests(folder, reference_response="5")
    assert call(folder, "validate") == 2
    assert "the reference response scores 0, but must score 1.0" in capsys.readouterr().out


def test_run_proposes_fixes_only_where_it_knows_some(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite_tests(folder, reference_response="5")
    assert call(folder, "run") == 2
    assert "--unchecked" in (told := capsys.readouterr().err)
    assert "lint --fix" not in told


def test_validate_of_a_missing_folder_says_how_to_make_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(tmp_path / "nowhere", "validate") == 2
    assert "init" in capsys.readouterr().err


def test_tests_lists_them_with_filters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folder, "tests") == 0
    assert "sum_004" in capsys.readouterr().out
    assert call(folder, "tests", "list", "--level", "2-3", "--json") == 0
    rows = json_of(capsys)["tests"]
    assert [(row["test_id"], row["evaluator"]) for row in rows] == [
        ("sum_001", "has_expected"),
        ("sum_002", "has_expected"),
    ]


def test_tests_show_prints_the_prompt_of_each_llm(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "tests", "show", "sum_002") == 0
    out = capsys.readouterr().out
    assert "Prompt for scripted:a" in out
    assert "Solve: 2 + 2" in out


def test_tests_show_as_json_has_the_messages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "tests", "show", "sum_002", "--llm", "*:a", "--json") == 0
    (prompt,) = json_of(capsys)["prompts"]
    assert prompt == {
        "llm_ids": ["scripted:a"],
        "messages": [{"role": "user", "content": "Solve: 2 + 2"}],
    }


def test_tests_show_names_the_nearest_test(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "tests", "show", "sum_2") == 2
    assert "sum_002" in capsys.readouterr().err


def test_lint_mends_what_is_safe_and_says_what_is_left(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = {"parameters": {"function_name": "add"}}
    rewrite_tests(folder, evaluation_module=module, reference_response="4", level=1)
    assert call(folder, "tests", "lint") == 0
    assert "4 can be fixed" in capsys.readouterr().out
    assert call(folder, "tests", "lint", "--fix", "--json") == 0
    assert json_of(capsys) == {"fixed_tests": 4, "problems": []}


def test_lint_ends_with_1_where_a_test_is_wrong(folder: Path) -> None:
    rewrite_tests(folder, reference_response="5")
    assert call(folder, "tests", "lint") == 1


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_analyse_names_the_tests_that_results_speak_against(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(30)
    for name in "abcdef":
        workspace_files.add_llm(name, {"11 + 11": "4", "21 + 21": "4", "1 + 1": "7", "+": "4"})
    folder = workspace_files.write()
    call(folder, "run")
    capsys.readouterr()
    assert call(folder, "tests", "analyse", "--json") == 0
    by_id = {test["test_id"]: test for test in json_of(capsys)["tests"]}
    assert by_id["sum_001"]["is_suspicious"]
    assert "nobody_passes" in by_id["sum_001"]["findings"]
    assert not by_id["sum_002"]["is_suspicious"]
    assert call(folder, "tests", "analyse") == 0
    assert "Suspicious: 1 of 30 tests" in capsys.readouterr().out


def test_analyse_without_results_says_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "tests", "analyse") == 0
    assert f"python main.py --data {folder} run" in capsys.readouterr().out

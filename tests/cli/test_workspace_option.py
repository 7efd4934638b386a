from __future__ import annotations

import pytest

from poor_bench.cli.main import COMMANDS, main, root
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> str:
    workspace_files.add_tests(2, tags=["quick"])
    workspace_files.add_llm("a", ["4"])
    return str(workspace_files.write())


@pytest.mark.parametrize("words", [["status"], ["tests", "list"], ["llms", "--no-check"]])
def test_the_workspace_may_be_named_after_the_command(
    folder: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--data", folder, "--json"]) == 0
    assert "scripted:a" in capsys.readouterr().out or words[0] == "tests"


def test_it_may_stand_between_a_group_and_its_command(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tests", "--data", folder, "list"]) == 0
    assert "sum_001" in capsys.readouterr().out


def test_the_next_step_names_it(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--data", folder]) == 0
    assert f"Next: python main.py --data {folder} run\n" in capsys.readouterr().out


def test_two_workspaces_are_refused(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", folder, "status", "--data", "data"]) == 2
    assert f"--data names two workspaces: {folder} and data" in capsys.readouterr().err
    assert main(["--data", folder, "status", "--data", f"{folder}/."]) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_it(name: str) -> None:
    command = root.get_command(root.make_context("x", ["status"]), name)
    assert command is not None
    every = [command, *getattr(command, "commands", {}).values()]
    for each in every:
        assert any("--data" in parameter.opts for parameter in each.params), each.name


@pytest.mark.parametrize(
    ("word", "option", "kind"),
    [
        ("sum_001", "--test", "test"),
        ("sums", "--class", "test class"),
        ("scripted:a", "--llm", "model"),
        ("2", "--level", "level"),
        ("quick", "--tag", "tag"),
        ("sum_*", "--test", "test"),
    ],
)
def test_a_word_without_its_option_is_told_the_option(
    folder: str, word: str, option: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", word, "--data", folder]) == 2
    quoted = f"'{word}'" if "*" in word else word
    told = f"{word} is a {kind}; use {option}: python main.py --data {folder} run {option} {quoted}"
    assert told in capsys.readouterr().err


def test_an_unknown_word_gets_no_advice(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nonsense", "--data", folder]) == 2
    assert "use --" not in capsys.readouterr().err


def test_the_next_step_keeps_the_filters(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", folder, "status", "--llm", "scripted:*", "--trials", "2"]) == 0
    told = f"Next: python main.py --data {folder} run --llm 'scripted:*' --trials 2"
    assert told in capsys.readouterr().out

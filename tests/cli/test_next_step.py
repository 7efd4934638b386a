from __future__ import annotations

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


def test_the_next_command_names_the_workspace_that_was_given(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", ["4"])
    folder = workspace_files.write()
    assert main(["--data", str(folder), "report"]) == 0
    assert f"Next: python main.py --data {folder} run\n" in capsys.readouterr().out


def test_so_does_the_way_out_of_an_error(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    folder = workspace_files.write()
    assert main(["--data", str(folder), "suite", "report"]) == 2
    assert f"python main.py --data {folder} suite run FILE" in capsys.readouterr().err


def test_a_workspace_of_the_environment_needs_no_word(
    workspace_files: WorkspaceFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POOR_BENCH_DATA", str(workspace_files.write()))
    assert main(["report"]) == 0
    assert "Next: python main.py run\n" in capsys.readouterr().out


def test_the_way_to_a_new_workspace_stays_as_it_is(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", f"{tmp_path}/absent", "run"]) == 2
    assert "`python main.py init " in capsys.readouterr().err

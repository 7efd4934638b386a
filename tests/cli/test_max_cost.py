from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(4)
    reply = {"text": "4", "prompt_tokens": 1, "completion_tokens": 100}
    prices = {"input": 0, "output": 1000}
    workspace_files.add_llm("a", [reply], parameters={"max_tokens": 100}, prices=prices)
    return workspace_files.write()


def run(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "run", *arguments])


def test_a_run_stops_before_the_money_is_spent(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--max-cost", "0.25") == 3
    shown = capsys.readouterr().out
    assert "Stopped by --max-cost: $0.20 of $0.25 spent" in shown
    assert run(folder, "--max-cost", "0.25") == 0


def test_the_machine_is_told_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--max-cost", "0.25", "--json") == 3
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_scored"], summary["n_pending"], summary["stopped_by_cost"]) == (2, 2, True)


def test_the_cost_is_told_before(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--dry-run") == 0
    assert "Estimated cost: $0.40" in capsys.readouterr().out


def test_a_limit_is_refused_where_prices_are_not_known(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.llms = [{"provider": "openai", "name": "gpt-x"}]
    folder = workspace_files.write()
    assert run(folder, "--max-cost", "1") == 2
    assert "openai:gpt-x" in capsys.readouterr().err
    assert run(folder, "--dry-run") == 0
    assert "Unknown cost" in capsys.readouterr().out

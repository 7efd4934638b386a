"""Commands that only look import nothing that asks models, runs code or writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles

_PRINT_MODULES = (
    "import sys; from poor_bench.cli.main import main;"
    "code = main(sys.argv[1:]); print('', *sys.modules); sys.exit(code)"
)
_ASKS_OR_RUNS = {
    *("poor_bench.judge", "poor_bench.llm_manager", "poor_bench.sandbox", "poor_bench.pool.pool"),
    *("poor_bench.runner.jobs", "poor_bench.runner.run", "poor_bench.providers.registry"),
    *("poor_bench.config.judge_settings", "asyncio", "filelock"),
}


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    """A workspace after a run."""
    workspace_files.add_tests(2)
    for name in ("a", "b"):
        workspace_files.add_llm(name, ["4"])
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run"]) == 0
    return folder


def _list_imported(folder: Path, words: str) -> set[str]:
    command = [sys.executable, "-c", _PRINT_MODULES, *words.split(), "--data", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stdout.split("\n")[-2].split())


@pytest.mark.slow(reason="starts Python for each case")
@pytest.mark.parametrize(
    "words",
    [
        *("status", "report", "report --by class", "report --format times", "issues"),
        "compare scripted:a scripted:b",
        "gate --min-score 0.1",
    ],
)
def test_who_only_looks_imports_nothing_that_asks_or_runs(folder: Path, words: str) -> None:
    assert not _ASKS_OR_RUNS & _list_imported(folder, words)


@pytest.mark.slow(reason="starts Python")
def test_files_that_are_kept_are_read_without_the_libraries_that_check_them(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1, reference_response="word " * 60_000)
    workspace_files.add_llm("a", ["4"])
    folder = workspace_files.write()
    checking = {"pydantic", "yaml", "poor_bench.config.entries", "poor_bench.providers"}
    first, second = (_list_imported(folder, "status") for _ in range(2))
    assert checking <= first
    assert not checking & second

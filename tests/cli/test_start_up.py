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


_LOOKS = [
    *("status", "report", "report --by class", "report --format times", "issues"),
    *("compare scripted:a scripted:b", "gate --min-score 0.1"),
]


@pytest.mark.slow(reason="starts Python for each case")
@pytest.mark.parametrize("words", _LOOKS)
def test_who_only_looks_imports_nothing_that_asks_or_runs(folder: Path, words: str) -> None:
    assert not _ASKS_OR_RUNS & _list_imported(folder, words)


@pytest.mark.slow(reason="starts Python for each case")
@pytest.mark.parametrize("words", _LOOKS)
def test_files_that_are_kept_are_read_without_the_libraries_that_check_them(
    workspace_files: WorkspaceFiles, words: str
) -> None:
    workspace_files.add_tests(1, reference_response="4 words " * 40_000)
    for name in ("a", "b"):
        workspace_files.add_llm(name, ["4"])
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run"]) == 0
    checking = {"pydantic", "yaml", "poor_bench.config.entries", "poor_bench.providers"}
    assert not checking & _list_imported(folder, words)
    for path in (folder / "index").glob("checked_*.json"):
        path.unlink()
    assert checking <= _list_imported(folder, words)

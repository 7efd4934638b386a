"""The plug-in runs in a pytest of its own, so that it cannot disturb this one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from tests.conftest import WorkspaceFiles
from tests.runner.running import run_all

pytestmark = pytest.mark.slow(reason="starts pytest again and again")

PROJECT = Path(__file__).parents[1]
PASSED, FAILED, USAGE = 0, 1, 4


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """Two LLMs: `a` is always right; `b` is wrong once, and once cannot be asked."""
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    broken = {"failure": "bad_request", "message": "odd \x1b[2J"}
    workspace_files.add_llm("b", {"1 + 1": broken, "2 + 2": "none \x1b[2J", "+": "4"})
    workspace_files.write()
    return workspace_files


def run_pytest(files: WorkspaceFiles, *arguments: str) -> tuple[int, str]:
    """Run pytest beside the workspace and return its exit code and output."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
         "-p", "poor_bench.pytest_plugin", "--color=no", *arguments],
        cwd=files.folder.parent,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    return ended.returncode, ended.stderr + ended.stdout


def counts(output: str) -> dict[str, int]:
    last = output.strip().splitlines()[-1]
    return {what.rstrip("s"): int(number) for number, what in re.findall(r"(\d+) ([a-z]+)", last)}


def test_stored_results_pass_fail_or_are_errors(files: WorkspaceFiles, tmp_path: Path) -> None:
    run_all(files.folder)
    report = tmp_path / "junit.xml"
    code, output = run_pytest(files, "--poor-bench", "bench", f"--junitxml={report}")
    assert code == FAILED
    assert counts(output).items() >= {"failed": 1, "passed": 4, "error": 1}.items()
    assert "FAILED bench/tests.json::sums/sum_002[scripted:b]" in output
    assert "score 0.000 is below 1" in output
    assert "failed to run: bad_request: odd" in output
    assert "\x1b" not in output
    assert "Traceback" not in output
    properties = {item.get("name") for item in parse(report).iter("property")}
    assert {"llm_id", "class_id", "score"} <= properties


def test_pending_tests_are_errors_until_they_are_run(files: WorkspaceFiles) -> None:
    code, output = run_pytest(files, "--poor-bench", "bench", "-x")
    assert code == FAILED
    assert "no result yet; add --poor-bench-run" in output
    code, output = run_pytest(files, "--poor-bench", "bench", "--poor-bench-run", "-k", "not b]")
    assert code == PASSED
    assert counts(output)["passed"] == 3
    code, output = run_pytest(files, "--poor-bench", "bench", "--poor-bench-llm", "scripted:b")
    assert counts(output)["error"] == 3


def test_results_that_are_out_of_date_are_errors(files: WorkspaceFiles) -> None:
    run_all(files.folder)
    files.tests[0]["text"] = "another question"
    files.write()
    _, output = run_pytest(files, "--poor-bench", "bench", "--poor-bench-llm", "scripted:a")
    assert "the result is out of date: prompt or parameters changed" in output
    assert counts(output)["passed"] == 2


@pytest.mark.parametrize("name", ["--poor-bench-pass-score", "--poor-bench-pass-mark"])
def test_one_item_can_be_named_and_the_pass_score_chosen(files: WorkspaceFiles, name: str) -> None:
    run_all(files.folder, trials=2)
    item = "bench/tests.json::sums/sum_003[scripted:b]"
    options = (name, "0.5", "--poor-bench-trials", "2")
    code, output = run_pytest(files, "--poor-bench", "bench", *options, item)
    assert (code, counts(output)["passed"]) == (PASSED, 1)


def test_invalid_workspace_names_its_problems(files: WorkspaceFiles) -> None:
    files.tests[0]["class_id"] = "summs"
    files.write()
    _, output = run_pytest(files, "--poor-bench", "bench")
    assert "did you mean `sums`" in output
    assert "Traceback" not in output


def test_wrong_options_are_refused(files: WorkspaceFiles) -> None:
    code, output = run_pytest(files, "--poor-bench", "bench", "--poor-bench-pass-score", "2")
    assert code == USAGE
    assert "--poor-bench-pass-score" in output


def test_without_its_option_the_plug_in_does_nothing(files: WorkspaceFiles) -> None:
    (files.folder.parent / "test_own.py").write_text("def test_own():\n    pass\n")
    code, output = run_pytest(files)
    assert (code, counts(output)) == (PASSED, {"passed": 1})


def test_own_tests_run_beside_the_workspace(files: WorkspaceFiles) -> None:
    run_all(files.folder)
    (files.folder.parent / "test_own.py").write_text("def test_own():\n    pass\n")
    options = ("--poor-bench", "bench", "--poor-bench-llm", "scripted:a")
    _, output = run_pytest(files, *options, "test_own.py")
    assert counts(output)["passed"] == 4


def test_entry_point_names_the_module_as_the_command_line_does() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    [(name, module)] = project["entry-points"]["pytest11"].items()
    assert name == module == import_module(module).__name__


def test_workers_of_one_session_ask_once(
    files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "session-1")
    for _ in range(2):
        run_pytest(files, "--poor-bench", "bench", "--poor-bench-run")
    assert len(list((files.folder / "runs").iterdir())) == 1
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "session-2")
    run_pytest(files, "--poor-bench", "bench", "--poor-bench-run")
    assert len(list((files.folder / "runs").iterdir())) == 2


WEAK = """
from functools import partial
from poor_bench.sandbox import Mechanism, Sandbox, sandbox as module
from poor_bench.sandbox.launchers import ZygoteLauncher
avoided = (Mechanism.BARE_ROOT, Mechanism.FILE_RULES)
module._shared.append(Sandbox(partial(ZygoteLauncher, avoided=avoided)))
"""


def test_weak_sandbox_is_refused_unless_accepted(workspace_files: WorkspaceFiles) -> None:
    evaluation = {"name": "python_evaluator", "parameters": {"test_cases": [{
        "input": 1, "expected_output": 2}]}}  # fmt: skip
    workspace_files.add_tests(1, evaluation_module=evaluation)
    workspace_files.add_llm("coder", "```python\ndef f(x):\n    return x + 1\n```")
    (workspace_files.write().parent / "weak.py").write_text(WEAK)
    run = ("-p", "weak", "--poor-bench", "bench", "--poor-bench-run")
    code, output = run_pytest(workspace_files, *run)
    assert (code, "level isolated is required" in output) == (USAGE, True)
    assert "--poor-bench-sandbox" in output
    code, output = run_pytest(workspace_files, *run, "--poor-bench-sandbox", "limits")
    assert (code, "Warning: sandbox level limits only" in output) == (PASSED, True)

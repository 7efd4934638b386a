from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.doctor import REQUIRED
from poor_bench.cli.main import main
from poor_bench.sandbox.levels import Level, Mechanism, SandboxStatus, SandboxTerms
from tests.conftest import WorkspaceFiles


def states_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return {found["name"]: found["state"] for found in json.loads(capsys.readouterr().out)}


def test_a_sound_workspace_has_no_problems(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["4"])
    assert main(["--data", str(workspace_files.write()), "doctor", "--json"]) == 0
    states = states_of(capsys)
    assert states["workspace"] == states["results"] == states["scripted:a"] == "ok"


def test_an_llm_without_its_key_is_a_problem(
    workspace_files: WorkspaceFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    workspace_files.llms.append({"provider": "openai", "name": "x", "api_key_env": "ABSENT_KEY"})
    folder = str(workspace_files.write())
    assert main(["--data", folder, "doctor", "--json"]) == 2
    assert states_of(capsys)["openai:x"] == "problem"
    main(["--data", folder, "llms", "--json"])
    [listed] = json.loads(capsys.readouterr().out)["llms"]
    assert listed["state"] == "refused"


def test_a_missing_workspace_is_told_beside_what_is_fine(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path / "absent"), "doctor", "--json"]) == 2
    states = states_of(capsys)
    assert (states["packages"], states["workspace"]) == ("ok", "problem")


def test_the_required_packages_are_those_of_the_requirements() -> None:
    lines = (Path(__file__).parents[2] / "requirements.txt").read_text("utf-8").splitlines()
    named = {re.split(r"[<>=]", line)[0] for line in lines if line and not line.startswith("#")}
    assert set(REQUIRED) == named


def test_a_system_without_a_task_limit_is_told(
    workspace_files: WorkspaceFiles,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = {Mechanism.TASK_LIMIT: "not on macOS"}
    terms = SandboxTerms(SandboxStatus(Level.LIMITS, missing), Level.LIMITS, is_chosen=True)
    monkeypatch.setattr("poor_bench.sandbox.describe_sandbox_terms", lambda: terms)
    main(["--data", str(workspace_files.write()), "doctor"])
    told = " ".join(capsys.readouterr().out.split())
    assert "without task limit: not on macOS" in told
    assert "any number of threads and processes" in told


@pytest.mark.slow(reason="starts Python")
def test_results_are_counted_without_numpy(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", ["4"])
    path = str(workspace_files.write())
    assert main(["--data", path, "run"]) == 0
    code = (
        "import sys; from poor_bench.cli.main import main;"
        f"code = main(['--data', {path!r}, 'doctor']); sys.exit(code or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Ctrl-C in the middle of a run, from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

pytestmark = pytest.mark.slow(reason="interrupts real runs")

ROOT = Path(__file__).parents[2]


def _start_run(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "main.py", "--data", str(folder), "run", "--unchecked"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _wait_for(words: str, process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    while line := process.stderr.readline():
        if words in line:
            return
    pytest.fail(f"the run ended before it said {words!r}")


def test_first_ctrl_c_keeps_what_is_finished_and_merges_it(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(30)
    workspace_files.add_llm("stuck", ["4", {"text": "4", "latency_ms": 600_000}])
    folder = workspace_files.write()
    process = _start_run(folder)
    _wait_for("score", process)
    process.send_signal(signal.SIGINT)
    _wait_for("Stopping", process)
    process.communicate(timeout=180)
    assert process.returncode == 130
    stored = WorkspaceFolder(folder).load_results()
    assert len(stored) == 1
    assert not list((folder / "journal").glob("*.jsonl"))


def test_second_ctrl_c_stops_at_once_and_loses_nothing(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(30)
    workspace_files.classes[0]["evaluation_module"]["name"] = "slow_to_stop"
    workspace_files.add_llm("quick", "4")
    folder = workspace_files.write()
    evaluator = folder / "evaluators" / "slow_to_stop.py"
    evaluator.write_text(
        '"""Right the first two times, then stuck as soon as those are stored."""\n\n'
        "import os\nimport threading\nfrom pathlib import Path\n\n_CALLS = []\n\n\n"
        "def _n_stored():\n    folder = Path(__file__).parents[1] / 'journal'\n"
        "    [journal] = folder.glob('*.jsonl')\n"
        "    return journal.read_text().count('test_id')\n\n\n"
        "def evaluate(response, parameters):\n    _CALLS.append(1)\n    if len(_CALLS) > 2:\n"
        "        while _n_stored() < 2:\n            pass\n"
        "        os.write(2, b'stuck\\n')  # what it prints would go into its details\n"
        "        threading.Event().wait()\n"
        "    return 1.0, 'fine'\n"
    )
    process = _start_run(folder)
    _wait_for("stuck", process)
    process.send_signal(signal.SIGINT)
    _wait_for("Stopping", process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=180)
    assert process.returncode == 130
    assert len(WorkspaceFolder(folder).load_results()) == 2

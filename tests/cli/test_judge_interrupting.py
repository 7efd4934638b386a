"""Ctrl-C while an agent is judged, from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.judge.storage import JudgementStore
from tests.judge.agent_workspace import VERDICT, write_workspace

pytestmark = pytest.mark.slow(reason="interrupts real runs")

ROOT = Path(__file__).parents[2]


def start_judging(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "main.py", "--data", str(folder), "judge", "run", "bikes"]
    return subprocess.Popen(
        [*command, "--judge", "scripted:judge", "--repeat", "3"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def wait_for(words: str, process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    while line := process.stderr.readline():
        if words in line:
            return
    pytest.fail(f"the run ended before it said {words!r}")


@pytest.mark.parametrize(("end", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_what_was_said_and_judged_stays(tmp_path: Path, end: signal.Signals, code: int) -> None:
    slow = [{"text": json.dumps(VERDICT)}, {"text": json.dumps(VERDICT), "latency_ms": 600_000}]
    folder = write_workspace(tmp_path, judge=slow)
    process = start_judging(folder)
    wait_for("scripted:judge: 7.00", process)
    process.send_signal(end)
    process.communicate(timeout=180)
    assert process.returncode == code
    store = JudgementStore(folder)
    [run] = store.runs()
    assert len(run.conversations) == 2
    assert len(run.judgements) == 1
    assert run.ended == ""
    assert not store.is_under_way(run.run_id)

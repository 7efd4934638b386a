from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_LEAVE = """
import atexit, threading
from poor_bench.cli.process import leave
atexit.register(print, "cleaned up")
if {n_threads}:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("said")
leave(7)
"""


@pytest.mark.parametrize("n_threads", [0, 1])
def test_everything_is_said_and_cleaned_up_whatever_threads_remain(n_threads: int) -> None:
    process = subprocess.run(
        [sys.executable, "-c", _LEAVE.format(n_threads=n_threads)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 7
    assert process.stdout.split("\n") == ["said", "cleaned up", ""]
    assert process.stderr == ""


def test_threads_that_must_finish_are_waited_for() -> None:
    source = (
        "import threading\nfrom poor_bench.cli.process import leave\nmay_end = threading.Event()\n"
        "def work():\n    may_end.wait()\n    print('finished')\n"
        "threading.Thread(target=work).start()\nmay_end.set()\nleave(3)"
    )
    process = subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stdout) == (3, "finished\n")

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from poor_bench.cli.process import prepare_to_look

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


def run_source(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


def test_threads_that_must_finish_are_waited_for() -> None:
    source = (
        "import threading\nfrom poor_bench.cli.process import leave\nmay_end = threading.Event()\n"
        "def work():\n    may_end.wait()\n    print('finished')\n"
        "threading.Thread(target=work).start()\nmay_end.set()\nleave(3)"
    )
    process = run_source(source)
    assert (process.returncode, process.stdout) == (3, "finished\n")


def test_a_fault_of_ours_is_no_gate_that_failed() -> None:
    process = run_source("from poor_bench.cli import main\nmain.main = None\nmain.console()")
    assert process.returncode == 70
    assert "TypeError: 'NoneType' object is not callable" in process.stderr


_STOP_WHILE_WRITING = """
import io, signal, sys, threading
from poor_bench.cli.process import stop_on_signal
from poor_bench.pool.control import RunControl

class Stream(io.StringIO):
    lock, owner = threading.Lock(), None
    def write(self, text):
        assert self.owner != threading.get_ident(), "reentrant call, as io.BufferedWriter says"
        with self.lock:
            self.owner = threading.get_ident()
            try:
                super().write(text)
                if text == "1 of 4":
                    signal.raise_signal(signal.SIGINT)
            finally:
                self.owner = None

sys.stderr, control = Stream(), RunControl()
with stop_on_signal(control):
    print("1 of 4", end="", file=sys.stderr)
print(control.cancelled(), "Stopping" in sys.stderr.getvalue())
"""


def test_a_signal_stops_a_run_also_while_it_writes() -> None:
    process = run_source(_STOP_WHILE_WRITING)
    assert process.stdout == "True True\n", process.stderr


def test_a_command_that_looks_spares_threads_and_searches_until_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = gc.get_threshold()
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with click.Context(click.Command("look")):
        prepare_to_look()
        assert gc.get_threshold()[0] > usual[0]
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert gc.get_threshold() == usual
    assert "OPENBLAS_NUM_THREADS" not in os.environ

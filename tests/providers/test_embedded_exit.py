"""A process that ends while llama.cpp is at work ends quickly and cleanly."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.providers.embedded_file import real_model

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and exit codes are POSIX's here"),
]
ROOT = Path(__file__).parents[2]
BEGINNING = f"""
import atexit, contextlib, os, signal, sys, threading
sys.path.insert(0, {str(ROOT)!r})
from poor_bench.calls.caller import SystemClock
from poor_bench.errors import RunCancelledError
from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM, Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.embedded import EmbeddedProvider
from poor_bench.providers.catalog import ProviderServices

has_begun = threading.Event()

def look():
    if threading.active_count() > 1 and any("embedded" in t.name for t in threading.enumerate()):
        has_begun.set()
    return False

llm = LLM(id="embedded:it", provider="embedded", name="it",
          parameters={{"model_path": sys.argv[1], "num_ctx": 2048}})
provider = EmbeddedProvider(llm, ProviderServices(clock=SystemClock()))
control = CallControl(timeouts=Timeouts(), cancelled=look)
request = ChatRequest(messages=(Message("user", "Write a very long story."),),
                      parameters={{"max_tokens": 1900}})
provider.preload(control)

def ask():
    provider.complete(request, control)

def ask_until_the_end():
    with contextlib.suppress(RunCancelledError):
        ask()

def ask_in_the_background():
    threading.Thread(target=ask_until_the_end, daemon=True).start()
    has_begun.wait()
"""


def run(ending: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; a hang fails the test after minutes: loading takes its time."""
    return subprocess.run(
        [sys.executable, "-c", BEGINNING + ending, str(real_model())],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_loaded_model_does_not_keep_a_program_alive() -> None:
    ended = run("")

    assert (ended.returncode, ended.stderr) == (0, "")


def test_program_may_end_while_a_reply_is_computed() -> None:
    ended = run("ask_in_the_background()")

    assert (ended.returncode, ended.stderr) == (0, "")


def test_program_may_fail_while_a_reply_is_computed() -> None:
    ended = run("ask_in_the_background(); raise SystemExit(7)")

    assert (ended.returncode, ended.stderr) == (7, "")


def test_ctrl_c_ends_a_program_that_waits_for_a_reply() -> None:
    ended = run(
        "stop = lambda: (has_begun.wait(), os.kill(os.getpid(), signal.SIGINT))\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        "ask()"
    )

    assert ended.returncode in {-signal.SIGINT, 130}
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")


def test_model_that_is_unloaded_at_work_does_not_harm_the_end() -> None:
    ended = run("ask_in_the_background(); provider.close()")

    assert (ended.returncode, ended.stderr) == (0, "")


def test_nothing_new_begins_while_the_program_ends() -> None:
    ended = run(
        "def ask_late():\n"
        "    try:\n"
        "        ask()\n"
        "    except RunCancelledError as error:\n"
        "        print(error)\n"
        "held = provider._held.engine\n"
        "atexit.unregister(held.close); atexit.register(ask_late); atexit.register(held.close)\n"
        "ask_in_the_background()"
    )

    assert (ended.returncode, ended.stdout) == (0, "the model is being unloaded\n")

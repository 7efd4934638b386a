"""How this suite is run: on several cores, without a failure that gets lost there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import share_out

ROOT = Path(__file__).parents[1]
PASSED, FAILED = 0, 1
pytestmark = pytest.mark.slow(reason="starts pytest and its workers")
EVERYTHING = """
import os, threading, warnings

def test_good():
    pass

def test_warning():
    warnings.warn("old ways")

def test_resource():
    open(__file__)

def test_thread():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()

def test_hanging():
    threading.Event().wait()

def test_leaving():
    os._exit(0)

def test_dying():
    os.kill(os.getpid(), 9)
"""


def run_pytest(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests in two workers, set up as this suite is."""
    (folder / "test_it.py").write_text(source)
    own = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", folder,
         "-p", "no:cacheprovider", "-p", "tests.conftest", "-n", "2", *arguments, "."],
        cwd=folder,
        env=own | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip


def test_nothing_that_goes_wrong_in_a_worker_is_lost(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, EVERYTHING, "--timeout=5")
    assert ended.returncode == FAILED, ended.stdout
    assert "6 failed, 1 passed" in ended.stdout
    for told in ("UserWarning: old ways", "ResourceWarning", "ZeroDivisionError", "Timeout"):
        assert told in ended.stdout
    for name in ("leaving", "dying"):
        assert f"crashed while running 'test_it.py::test_{name}'" in ended.stdout


def test_a_worker_that_dies_after_its_last_test_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os\ndef pytest_sessionfinish(session):\n"
        "    if hasattr(session.config, 'workerinput'):\n        os._exit(0)\n"
    )
    ended = run_pytest(tmp_path, "def test_good():\n    pass\n", "--max-worker-restart=0")
    assert ended.returncode != PASSED, ended.stdout


class Item(NamedTuple):
    """As much of a test as decides on its place."""

    path: str
    is_slow: bool

    def get_closest_marker(self, name: str) -> str | None:
        return name if self.is_slow else None


def test_each_worker_begins_with_slow_files_and_no_test_is_lost() -> None:
    slow = [Item(f"slow_{number}", is_slow=number % 2 == 0) for number in range(8)]
    items = [Item("a", is_slow=False)] * 40 + [each for each in slow for each in (each, each)]
    shared = share_out(items, 4)
    assert Counter(shared) == Counter(items)
    parts = [shared[start : start + 14] for start in range(0, 56, 14)]
    assert [sum(item.is_slow for item in part[:2]) for part in parts] == [2] * 4
    assert not any(item.is_slow for part in parts for item in part[2:])

"""What outlives a killed process, a full disk and two processes at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poor_bench.errors import StoreError
from tests.results.builders import make_result, open_test_store, scores

_APPEND_FOR_EVER = """
import itertools, sys
from pathlib import Path
from tests.results.builders import make_result, open_test_store
store = open_test_store(Path(sys.argv[1]))
journal = store.open_run(sys.argv[2], {})
for number in itertools.count():
    journal.append(make_result(f"t{number}", response="x" * 2000))
    print(number, flush=True)
"""
_APPEND_SOME = """
import sys
from pathlib import Path
from tests.results.builders import make_result, open_test_store
store = open_test_store(Path(sys.argv[1]))
store.add([make_result(f"{sys.argv[2]}-{n}") for n in range(int(sys.argv[3]))], sys.argv[2], {})
"""
_APPEND_UNTIL_FULL = """
import resource, signal, sys
from pathlib import Path
from poor_bench.errors import StoreError
from tests.results.builders import make_result, open_test_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_test_store(Path(sys.argv[1]))
journal = store.open_run("run1", {})
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
number = 0
try:
    while True:
        journal.append(make_result(f"t{number}", response="x" * 700))
        number += 1
except StoreError as error:
    print(number, error)
"""


def _start(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_everything_that_was_appended_survives_kill_9(tmp_path: Path) -> None:
    process = _start(_APPEND_FOR_EVER, str(tmp_path), "run1")
    assert process.stdout is not None
    last = [int(process.stdout.readline()) for _ in range(200)][-1]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = open_test_store(tmp_path)
    stored = {test_id for _, test_id, _ in scores(store)}
    assert {f"t{number}" for number in range(last + 1)} <= stored
    assert store.merge() == 1
    assert {test_id for _, test_id, _ in scores(store)} == stored


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    store = open_test_store(tmp_path)
    journal = store.open_run("run1", {})
    journal.append(make_result("whole"))
    journal.append(make_result("torn"))
    journal.close()
    path = store.paths.journals()[0]
    path.write_bytes(path.read_bytes()[:-cut])
    store.merge()
    stored = {test_id for _, test_id, _ in scores(store)}
    assert "whole" in stored
    assert stored == ({"whole", "torn"} if cut == 1 else {"whole"})


@pytest.mark.slow(reason="starts two processes")
def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    processes = [_start(_APPEND_SOME, str(tmp_path), name, "300") for name in ("a", "b", "c")]
    assert [process.wait() for process in processes] == [0, 0, 0]
    for process in processes:
        process.communicate()
    store = open_test_store(tmp_path)
    store.merge()
    assert len(scores(store)) == 900


def test_full_disk_is_an_error_and_keeps_what_was_stored(tmp_path: Path) -> None:
    process = _start(_APPEND_UNTIL_FULL, str(tmp_path))
    output, _ = process.communicate()
    number = int(output.split()[0])
    assert "cannot be written" in output
    assert number > 5
    assert len(scores(open_test_store(tmp_path))) == number


def test_disk_that_is_full_while_merging_keeps_journal_and_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_test_store(tmp_path)
    store.add([make_result("old")], "run1", {})
    before = store.paths.snapshot.read_bytes()

    def no_space(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    journal = store.open_run("run2", {})
    journal.append(make_result("new"))
    journal.close()
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match="No space left"):
        store.merge()
    assert store.paths.snapshot.read_bytes() == before
    assert not list(tmp_path.glob(".*.tmp"))
    monkeypatch.undo()
    store.merge()
    assert {test_id for _, test_id, _ in scores(store)} == {"old", "new"}


def test_same_run_id_twice_is_refused(tmp_path: Path) -> None:
    store = open_test_store(tmp_path)
    journal = store.open_run("run1", {})
    with pytest.raises(StoreError, match="another process uses it"):
        store.open_run("run1", {})
    journal.close()

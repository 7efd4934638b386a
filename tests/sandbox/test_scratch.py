"""The folder in which programs may write: empty for each, and seen by no other."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from poor_bench.sandbox import Check, CheckEnd, LoadEnd, Mechanism, Program, Sandbox, children
from poor_bench.sandbox.children import provide_scratch_folder
from poor_bench.sandbox.launchers import ZygoteLauncher
from poor_bench.sandbox.program_runs import open_candidate_session
from tests.waiting import wait_for

LEAVE_FILES = """
import os
def f(name):
    before = sorted(os.listdir("."))
    os.makedirs(f"{name}/deeper")
    for folder in (".", f"{name}/deeper"):
        with open(f"{folder}/{name}.txt", "w") as file:
            file.write("left by " + name)
    return before, sorted(os.listdir("."))
"""
KEEP_FILE = """
import os, tempfile
with open("file.txt", "w") as file:
    file.write("kept")
path = os.path.join(tempfile.gettempdir(), "file.txt")
def f(): return open("file.txt").read(), open(path).read()
"""
LOOK = "import os, tempfile\ndef f(): return os.listdir('.') + os.listdir(tempfile.gettempdir())"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = Sandbox()
    yield opened
    opened.close()


def test_what_a_program_left_is_gone_for_the_next_one(sandbox: Sandbox) -> None:
    for name in ("first", "second", "third"):
        [case] = sandbox.run_cases(Program(source=LEAVE_FILES, function="f"), [name]).cases
        before, after = case.value
        assert before == []
        assert name in after


def test_cases_of_one_program_see_the_files_of_earlier_ones(sandbox: Sandbox) -> None:
    cases = sandbox.run_cases(Program(source=LEAVE_FILES, function="f"), ["one", "two"]).cases
    assert cases[1].value[0] == ["one", "one.txt"]


def test_files_of_a_program_that_died_are_gone(sandbox: Sandbox) -> None:
    dying = "import os\ndef f():\n    open('left.txt', 'w').close()\n    os._exit(3)"
    sandbox.run_cases(Program(source=dying, function="f"), [[]])
    [case] = sandbox.run_cases(Program(source=LOOK, function="f"), [[]]).cases
    assert case.value == []


def test_program_and_its_test_do_not_see_each_others_files(sandbox: Sandbox) -> None:
    test = (
        "import os\nopen('answer.txt', 'w').write('42')\n"
        "def check(candidate):\n"
        "    assert candidate() == []\n"
        "    assert os.listdir('.') == ['answer.txt'], os.listdir('.')\n"
    )
    program = (
        "import os\ndef f():\n"
        "    seen = os.listdir('.')\n"
        "    open('guess.txt', 'w').close()\n    os.remove('guess.txt')\n    return seen"
    )
    outcome = sandbox.run_check(Program(source=program, function="f"), Check(source=test))
    assert outcome.end is CheckEnd.PASSED, outcome


def test_what_a_checked_program_left_is_gone_for_the_next_one(sandbox: Sandbox) -> None:
    test = Check(source="def check(candidate):\n    assert candidate('again')[0] == []\n")
    for _ in range(2):
        outcome = sandbox.run_check(Program(source=LEAVE_FILES, function="f"), test)
        assert outcome.end is CheckEnd.PASSED, outcome


@pytest.mark.skipif(sys.platform != "linux", reason="only there do programs share a folder")
@pytest.mark.parametrize("is_apart", [True, False], ids=["checker", "program that waits"])
def test_files_stay_while_another_child_ends(is_apart: bool) -> None:
    launcher = ZygoteLauncher(min(os.sched_getaffinity(0)))
    program = Program(source=KEEP_FILE, function="f")
    with open_candidate_session(launcher, program, [[]], time.monotonic() + 20) as session:
        assert session.load().end is LoadEnd.LOADED
        launcher.launch(is_apart=is_apart).end()
        case = session.run_case(0)
    launcher.close()
    assert case.value == ("kept", "kept"), case


@pytest.mark.skipif(sys.platform != "linux", reason="only there do programs share a folder")
def test_marks_on_the_folder_itself_are_gone_for_the_next_program() -> None:
    avoided = [Mechanism.SYSTEM_CALL_FILTER]
    sandbox = Sandbox(partial(ZygoteLauncher, avoided=avoided))
    marking = (
        "import os\nfrom contextlib import suppress\ndef f():\n"
        "    before = oct(os.stat('.').st_mode), os.stat('.').st_mtime > 5\n"
        "    with suppress(PermissionError): os.utime('.', (1, 1))\n"
        "    with suppress(PermissionError): os.chmod('.', 0)\n    return before"
    )
    for _ in range(3):
        [case] = sandbox.run_cases(Program(source=marking, function="f"), [[]]).cases
        assert case.value == ("0o40777", True), case
    sandbox.close()


@pytest.mark.slow(reason="makes a thousand folders")
@pytest.mark.skipif(sys.platform == "win32", reason="paths of that length do not exist there")
def test_folders_nested_a_thousand_deep_are_removed() -> None:
    with provide_scratch_folder({Mechanism.BARE_ROOT: "not here"}) as path:
        assert path is not None
        home = os.open(".", os.O_RDONLY)
        os.chdir(path)
        for _ in range(3000):
            os.mkdir("d")  # noqa: PTH102 - the whole path would be too long
            os.chdir("d")
        Path("deep.txt").write_text("here")
        os.fchdir(home)
        os.close(home)
    wait_for(lambda: not Path(path).exists())


@pytest.mark.skipif(sys.platform == "win32", reason="only for folders on disk")
def test_removing_very_many_folders_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, ended = threading.Event(), threading.Event()

    def slow(folder: str) -> None:
        may_end.wait()
        os.rmdir(folder)  # noqa: PTH106 - stands in for the removal of folders by their names
        ended.set()

    monkeypatch.setattr(children, "_remove", slow)
    monkeypatch.setattr(children, "_MAX_REMOVAL_S", 0.0)
    with provide_scratch_folder({Mechanism.BARE_ROOT: "not here"}) as path:
        pass
    assert Path(path or "").exists(), "it is still being removed"
    may_end.set()
    assert ended.wait(20)
    assert not Path(path or "").exists()

"""Tests that run in a process of their own and see the candidate through plain data only."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from poor_bench.sandbox import Check, CheckEnd, CheckOutcome, Limits, LoadEnd, Program, Sandbox
from poor_bench.sandbox.launchers import PipeLauncher, ZygoteLauncher

AMPLE = Limits(case_s=20.0, total_s=60.0)
QUICK = Limits(case_s=0.3, load_s=20.0, total_s=1.0)
"""For what does not end by itself."""
GARBAGE = """
import os
def f(x):
    for descriptor in range(3, 10):
        try: os.write(descriptor, b"x" * 99)
        except OSError: pass
"""
LAUNCHERS = {"linked": ZygoteLauncher, "through us": lambda _processor: PipeLauncher()}


@pytest.fixture(scope="module", params=LAUNCHERS.values(), ids=LAUNCHERS.keys())
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    opened = Sandbox(request.param)
    yield opened
    opened.close()


def check(
    sandbox: Sandbox, source: str, *lines: str, setup: str = "", limits: Limits = AMPLE
) -> CheckOutcome:
    body = "\n    ".join(lines)
    program = Program(source=source, function="f", setup=setup, limits=limits)
    return sandbox.run_check(
        program, Check(source=f"def check(candidate):\n    {body}\n", setup=setup)
    )


@pytest.mark.slow(reason="waits for limits of real processes")
@pytest.mark.parametrize(
    ("source", "lines", "end"),
    [
        ("def f(x, n=1): return x * n", ["assert candidate(2, n=3) == 6"], CheckEnd.PASSED),
        ("def f(x): return (x, {x})", ["assert f(1) == (1, {1})"], CheckEnd.PASSED),
        ("def f(x): return x.clear()", ["x = [1]", "f(x)", "assert x == [1]"], CheckEnd.PASSED),
        ("def f(x): return 1 / x", ["assert candidate(0)"], CheckEnd.RAISED),
        ("def f(x):\n    while x: pass", ["candidate(1)"], CheckEnd.TIMED_OUT),
        ("import os\ndef f(x): os._exit(0)", ["candidate(1)"], CheckEnd.DIED),
        (GARBAGE, ["candidate(1)"], CheckEnd.GARBLED),
        ("def f(x): return f", ["assert candidate(1) == f"], CheckEnd.FAILED),
        ("def f(x): return None", ["assert len(candidate(1)) == 0"], CheckEnd.FAILED),
        ("def f(x): return 1", ["candidate(lambda: 1)"], CheckEnd.BROKEN),
        ("def f(x): return 1", ["while True: pass"], CheckEnd.TIMED_OUT),
        ("def f(x): return 1", ["import os", "os._exit(1)"], CheckEnd.BROKEN),
    ],
    ids=[
        "keywords", "by its name", "copies", "exception", "endless", "exit", "garbage", "object",
        "stumbles", "function", "endless test", "test that exits",
    ],
)  # fmt: skip
def test_ends_are_told_apart(
    sandbox: Sandbox, source: str, lines: list[str], end: CheckEnd
) -> None:
    limits = QUICK if end is CheckEnd.TIMED_OUT else AMPLE
    assert check(sandbox, source, *lines, limits=limits).end is end


def test_expected_exceptions_of_the_candidate_can_be_caught(sandbox: Sandbox) -> None:
    outcome = check(
        sandbox,
        "def f(x): raise ValueError('no ' + x)",
        "try:",
        "    candidate('way')",
        "except ValueError as error:",
        "    assert str(error) == 'no way'",
        "else:",
        "    assert False",
    )
    assert outcome.end is CheckEnd.PASSED


def test_death_of_the_candidate_cannot_be_caught(sandbox: Sandbox) -> None:
    lines = ["try:", "    candidate(1)", "except:", "    pass"]
    assert check(sandbox, "import os\ndef f(x): os._exit(0)", *lines).end is CheckEnd.DIED


def test_failure_is_shown_with_its_line_and_call(sandbox: Sandbox) -> None:
    outcome = check(sandbox, "def f(x): return x", "assert candidate(1) == 1", "assert f(2) == 5")
    assert outcome.source_line == "assert f(2) == 5"
    assert outcome.last_call == "f(2) returned 2"


def test_exception_has_the_line_of_the_program(sandbox: Sandbox) -> None:
    source = "def f(x):\n    y = 0\n    return x / y"
    outcome = check(sandbox, source, "candidate(1)", setup="import math\nX = 1\nY = 2")
    assert outcome.error is not None
    assert (outcome.error.type_name, outcome.error.line) == ("ZeroDivisionError", 3)


def test_output_of_the_candidate_is_kept(sandbox: Sandbox) -> None:
    outcome = check(sandbox, "def f(x): print('debug', x)", "assert candidate(1)")
    assert outcome.output == "debug 1\n"


@pytest.mark.slow(reason="waits for limits of real processes")
@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("def f(", LoadEnd.SYNTAX_ERROR),
        ("1 / 0", LoadEnd.RAISED),
        ("while True: pass", LoadEnd.TIMED_OUT),
        ("import os; os._exit(2)", LoadEnd.DIED),
        (f"{GARBAGE}\nf(1)", LoadEnd.GARBLED),
        ("x = 1 #" + "x" * 300_000, LoadEnd.TOO_LARGE),
    ],
    ids=["syntax", "exception", "endless", "exit", "garbage", "large"],
)
def test_program_that_does_not_load_says_why(sandbox: Sandbox, source: str, end: LoadEnd) -> None:
    limits = AMPLE._replace(case_s=QUICK.case_s) if end is LoadEnd.TIMED_OUT else AMPLE
    outcome = check(sandbox, source, "candidate(1)", limits=limits)
    assert outcome.load.end is end
    assert outcome.end is not CheckEnd.PASSED


def test_tests_leave_no_trace_for_the_next_one(sandbox: Sandbox) -> None:
    tampering = ["import builtins", "builtins.sum = lambda _: 0", "builtins.LEFT = 1"]
    assert check(sandbox, "def f(x): return x", *tampering).end is CheckEnd.PASSED
    clean = [
        "assert candidate(sum([1, 1])) == 2",
        "import builtins",
        "assert not hasattr(builtins, 'LEFT')",
    ]
    assert check(sandbox, "def f(x): return x", *clean).end is CheckEnd.PASSED


@pytest.mark.slow(reason="waits for limits of real processes")
@pytest.mark.parametrize(
    "lines",
    [
        ["import os", "assert not os.listdir('.')", "os.mkdir('left')"],
        ["import os", "os.listdir('.')", "os.mkdir('place')", "os.chdir('place')"],
        ["import os", "assert 'LEFT' not in os.environ", "os.environ['LEFT'] = '1'"],
        ["import sys", "assert 'left' not in sys.path", "sys.path.append('left')"],
        ["import math", "assert math.sqrt(4) == 2", "math.sqrt = lambda _: 0"],
        ["import math", "assert math.floor(4.5) == 4", "setattr(math, 'floor', None)"],
    ],
    ids=["files", "place", "environment", "path", "patched module", "setattr"],
)
def test_same_test_finds_the_same_world_every_time(sandbox: Sandbox, lines: list[str]) -> None:
    for _ in range(2):
        outcome = check(sandbox, "def f(x): return x", *lines, "assert candidate(1) == 1")
        assert outcome.end is CheckEnd.PASSED, outcome


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms here")
def test_alarm_that_a_test_left_does_not_disturb_the_next_one(sandbox: Sandbox) -> None:
    setting = [
        "import signal",
        "assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL",
        "signal.signal(signal.SIGALRM, lambda *_: 1 / 0)",
        "signal.alarm(60)",
    ]
    for _ in range(2):
        assert check(sandbox, "def f(x): return x", *setting).end is CheckEnd.PASSED


@pytest.mark.parametrize(
    ("source", "first", "end"),
    [
        ("def f(x): return x", "VALUE = f(1)", CheckEnd.PASSED),
        ("def f(x): return x", "assert f(1) == 2", CheckEnd.FAILED),
        ("def f(x): return 1 / x", "f(0)", CheckEnd.RAISED),
        ("def f(", "VALUE = f(1)", CheckEnd.NOT_LOADED),
        ("def f(", "try: f(1)\nexcept BaseException: pass", CheckEnd.NOT_LOADED),
        ("import os\ndef f(x): os._exit(0)", "f(1)", CheckEnd.DIED),
        ("def f(x): return x", "f(1) + no_such_name", CheckEnd.FAILED),
    ],
    ids=["right", "wrong", "exception", "syntax", "caught", "exit", "stumbles"],
)
def test_candidate_can_be_called_while_the_test_is_loaded(
    sandbox: Sandbox, source: str, first: str, end: CheckEnd
) -> None:
    test = Check(source=f"{first}\ndef check(candidate):\n    assert candidate(2) == 2\n")
    outcome = sandbox.run_check(Program(source=source, function="f", limits=AMPLE), test)
    assert outcome.end is end, outcome


@pytest.mark.slow(reason="waits for limits of real processes")
def test_threads_of_a_test_get_each_its_own_answers(sandbox: Sandbox) -> None:
    outcome = check(
        sandbox,
        "def f(x): return x",
        "from concurrent.futures import ThreadPoolExecutor",
        "with ThreadPoolExecutor(8) as threads:",
        "    assert list(threads.map(candidate, range(500))) == list(range(500))",
    )
    assert outcome.end is CheckEnd.PASSED, outcome


@pytest.mark.slow(reason="waits for real processes or limits")
def test_answer_that_trickles_in_is_late(sandbox: Sandbox) -> None:
    source = (
        "import marshal, os, struct, time\n"
        "def f(x):\n"
        "    content = marshal.dumps(('returned', 1), 2)\n"
        "    channel = next(fd for fd in range(3, 9) if is_channel(fd))\n"
        "    for byte in struct.pack('>I', len(content)) + content:\n"
        "        os.write(channel, bytes([byte]))\n"
        "        time.sleep(0.1)\n"
        "def is_channel(fd):\n"
        "    import stat\n"
        "    try: mode = os.fstat(fd).st_mode\n"
        "    except OSError: return False\n"
        "    return stat.S_ISSOCK(mode) or fd == 4 and stat.S_ISFIFO(mode)\n"
    )
    outcome = check(sandbox, source, "assert candidate(1) == 1", limits=QUICK)
    assert outcome.end is CheckEnd.TIMED_OUT


def test_death_of_the_test_is_no_fault_of_the_candidate(sandbox: Sandbox) -> None:
    outcome = check(sandbox, "def f(x): return x", "import os", "os._exit(3)")
    assert outcome.end is CheckEnd.BROKEN
    assert outcome.cause == "its process exited with code 3"


def test_random_inputs_of_a_test_are_the_same_every_time(sandbox: Sandbox) -> None:
    lines = ["import random", "assert candidate(random.random()) is None"]
    calls = {check(sandbox, "def f(x): return x", *lines).last_call for _ in range(3)}
    assert len(calls) == 1

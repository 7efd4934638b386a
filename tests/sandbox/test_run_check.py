"""Tests that run in a process of their own and see the candidate through plain data only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from poor_bench.sandbox import Check, CheckEnd, CheckOutcome, Limits, LoadEnd, Program, Sandbox
from poor_bench.sandbox.host.pipe_launcher import PipeLauncher
from poor_bench.sandbox.host.zygote_launcher import ZygoteLauncher

QUICK = Limits(case_s=1.0, total_s=4.0)
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


def check(sandbox: Sandbox, source: str, *lines: str, setup: str = "") -> CheckOutcome:
    body = "\n    ".join(lines)
    program = Program(source=source, function="f", setup=setup, limits=QUICK)
    return sandbox.run_check(
        program, Check(source=f"def check(candidate):\n    {body}\n", setup=setup)
    )


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
        ("def f(x): return 1", ["import os", "os._exit(1)"], CheckEnd.DIED),
    ],
    ids=[
        "keywords", "by its name", "copies", "exception", "endless", "exit", "garbage", "object",
        "stumbles", "function", "endless test", "test that exits",
    ],
)  # fmt: skip
def test_ends_are_told_apart(
    sandbox: Sandbox, source: str, lines: list[str], end: CheckEnd
) -> None:
    assert check(sandbox, source, *lines).end is end


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
    outcome = check(sandbox, source, "candidate(1)")
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


def test_random_inputs_of_a_test_are_the_same_every_time(sandbox: Sandbox) -> None:
    lines = ["import random", "assert candidate(random.random()) is None"]
    calls = {check(sandbox, "def f(x): return x", *lines).last_call for _ in range(3)}
    assert len(calls) == 1

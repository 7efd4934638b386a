from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from poor_bench.sandbox import (
    CaseEnd,
    Check,
    CheckEnd,
    Limits,
    LoadEnd,
    OpaqueObject,
    Program,
    ProgramOutcome,
    Sandbox,
)

AMPLE = Limits(case_s=20.0, total_s=60.0)
QUICK = Limits(case_s=1.0, load_s=20.0, total_s=30.0)
"""For programs that do not end by themselves."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = Sandbox()
    yield opened
    opened.close()


def run(sandbox: Sandbox, source: str, *inputs: Any, limits: Limits = AMPLE) -> ProgramOutcome:
    return sandbox.run_cases(Program(source=source, function="f", limits=limits), inputs)


@pytest.mark.parametrize(
    "value",
    [
        "None", "True", "2**200", "-0.5", "float('inf')", "1+2j", "'\\ud800 text'", "b'\\x00'",
        "[1, (2, {3})]", "frozenset({1})", "{(1, 2): [None], 'a': {}}", "set()", "()",
    ],
)  # fmt: skip
def test_plain_values_come_back_as_they_are(sandbox: Sandbox, value: str) -> None:
    [case] = run(sandbox, f"def f(): return {value}", []).cases
    assert case.end is CaseEnd.RETURNED
    expected = eval(value)
    assert (type(case.value), case.value) == (type(expected), expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("numpy.int64(5)", 5),
        ("numpy.bool_(True)", True),
        ("numpy.float32(0.5)", 0.5),
        ("[numpy.int32(1), {numpy.str_('a'): numpy.float64(2)}]", [1, {"a": 2.0}]),
        ("bytearray(b'ab')", b"ab"),
    ],
)
def test_what_python_calls_equal_to_plain_values_comes_back_as_these(
    sandbox: Sandbox, made: str, expected: Any
) -> None:
    pytest.importorskip("numpy")
    slow = Limits(case_s=30.0, total_s=60.0, memory_bytes=2 * 1024**3)
    [case] = run(sandbox, f"import numpy\ndef f(): return {made}", [], limits=slow).cases
    assert case.end is CaseEnd.RETURNED
    assert (type(case.value), case.value) == (type(expected), expected)


@pytest.mark.parametrize("made", ["numpy.array([1, 2])", "numpy.longdouble(1)", "numpy"])
def test_other_objects_of_numpy_are_no_plain_values(sandbox: Sandbox, made: str) -> None:
    pytest.importorskip("numpy")
    slow = Limits(case_s=30.0, total_s=60.0, memory_bytes=2 * 1024**3)
    [case] = run(sandbox, f"import numpy\ndef f(): return {made}", [], limits=slow).cases
    assert isinstance(case.value, OpaqueObject)


def test_objects_come_back_as_what_they_are(sandbox: Sandbox) -> None:
    source = (
        "class Liar(int):\n    __class__ = str\n    def __eq__(self, other): return True\n"
        "    def __repr__(self): return 'right'\n    __hash__ = None\n"
        "class Thing: pass\ndef f(): return [Liar(3), Thing(), f]"
    )
    [case] = run(sandbox, source, []).cases
    number, thing, function = case.value
    assert (type(number), number) == (int, 3)
    assert isinstance(thing, OpaqueObject)
    assert thing.type_name == "Thing"
    assert isinstance(function, OpaqueObject)
    assert thing != thing.type_name


@pytest.mark.slow(reason="waits for limits of real processes")
def test_each_case_has_a_verdict_of_its_own(sandbox: Sandbox) -> None:
    source = (
        "import os\ndef f(x):\n    if x == 1: raise KeyError('gone')\n    if x == 2: os._exit(3)\n"
        "    if x == 3:\n        while True: pass\n    return x"
    )
    outcome = run(sandbox, source, 0, 1, 2, 3, 4, limits=QUICK)
    ends = [case.end for case in outcome.cases]
    assert ends == [
        CaseEnd.RETURNED, CaseEnd.RAISED, CaseEnd.DIED, CaseEnd.TIMED_OUT, CaseEnd.RETURNED,
    ]  # fmt: skip
    error = outcome.cases[1].error
    assert error is not None
    assert (error.type_name, error.line) == ("KeyError", 3)


@pytest.mark.slow(reason="waits for real processes or limits")
@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("def f(:", LoadEnd.SYNTAX_ERROR),
        ("raise ValueError('no')", LoadEnd.RAISED),
        ("def g(): pass", LoadEnd.MISSING_FUNCTION),
        ("while True: pass", LoadEnd.TIMED_OUT),
        ("import os; os._exit(0)", LoadEnd.DIED),
        ("import sys; sys.exit(0)", LoadEnd.RAISED),
    ],
    ids=str,
)
def test_program_that_does_not_load_says_why(sandbox: Sandbox, source: str, end: LoadEnd) -> None:
    outcome = run(
        sandbox, source, 1, limits=AMPLE._replace(case_s=0.3) if end is LoadEnd.TIMED_OUT else AMPLE
    )
    assert outcome.load.end is end
    assert [case.end for case in outcome.cases] == [CaseEnd.NOT_RUN]


@pytest.mark.slow(reason="waits for limits of real processes")
def test_time_in_all_is_kept(sandbox: Sandbox) -> None:
    limits = Limits(case_s=0.3, load_s=20.0, total_s=2.0)
    outcome = run(sandbox, "def f(x):\n    while True: pass", *range(20), limits=limits)
    assert outcome.cases[0].end is CaseEnd.TIMED_OUT
    assert outcome.cases[-1].end is CaseEnd.NOT_RUN


@pytest.mark.slow(reason="burns seconds of CPU time")
def test_library_of_ours_may_load_for_longer_than_a_case_takes(sandbox: Sandbox) -> None:
    source = (
        "import time\nwhile time.process_time() < 1.2: pass\n"
        "def f(is_endless):\n    while is_endless: pass\n    return 1"
    )
    limits = Limits(case_s=1.0, load_s=30.0, total_s=60.0)
    started = time.monotonic()
    outcome = run(sandbox, source, False, True, limits=limits)
    assert [case.end for case in outcome.cases] == [CaseEnd.RETURNED, CaseEnd.TIMED_OUT]
    assert time.monotonic() - started < limits.load_s


def test_output_is_kept_up_to_its_limit(sandbox: Sandbox) -> None:
    limits = AMPLE._replace(output_bytes=1000)
    [case] = run(sandbox, "def f(): print('x' * 100_000); return 1", [], limits=limits).cases
    assert (case.end, case.value) == (CaseEnd.RETURNED, 1)
    assert 0 < len(case.output) < 2000


def test_memory_beyond_the_limit_is_an_error_of_the_program(sandbox: Sandbox) -> None:
    [case] = run(sandbox, "def f(): return len(bytearray(3 * 2**30))", []).cases
    assert case.end in {CaseEnd.RAISED, CaseEnd.DIED}


def test_value_that_is_too_large_is_told(sandbox: Sandbox) -> None:
    source = "def f():\n    x = []\n    for _ in range(5000): x = [x]\n    return x"
    [case] = run(sandbox, source, []).cases
    assert case.end is CaseEnd.UNSENDABLE


def test_many_threads_share_one_sandbox(sandbox: Sandbox) -> None:
    values: list[Any] = []

    def work(number: int) -> None:
        values.append(run(sandbox, "def f(x): return x + 1", number).cases[0].value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == list(range(1, 17))


CHECK = Check(source="def check(candidate):\n    assert candidate(2) == 4, 'two'\n")


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("def f(x): return x * 2", CheckEnd.PASSED),
        ("def f(x): return x + 3", CheckEnd.FAILED),
        ("def f(x): raise OSError('x')", CheckEnd.RAISED),
        ("def f(x):\n    import os\n    os._exit(0)", CheckEnd.DIED),
        ("import sys\ndef f(x): sys.exit(0)", CheckEnd.RAISED),
        ("def g(x): return 4", CheckEnd.NOT_LOADED),
        ("class A:\n    def __eq__(self, o): return True\ndef f(x): return A()", CheckEnd.FAILED),
        ("import builtins\nbuiltins.AssertionError = OSError\ndef f(x): return 5", CheckEnd.FAILED),
    ],
    ids=["right", "wrong", "raises", "dies", "exits", "missing", "liar", "tampers"],
)
def test_check_decides_from_another_process(sandbox: Sandbox, source: str, end: CheckEnd) -> None:
    program = Program(source=source, function="f", limits=AMPLE)
    assert sandbox.run_check(program, CHECK).end is end


def test_broken_check_is_no_fault_of_the_candidate(sandbox: Sandbox) -> None:
    program = Program(source="def f(x): return 4", function="f", limits=AMPLE)
    assert sandbox.run_check(program, Check(source="def check(")).end is CheckEnd.BROKEN


@pytest.mark.slow(reason="burns seconds of CPU time")
def test_cpu_time_of_earlier_cases_does_not_count_against_later_ones(sandbox: Sandbox) -> None:
    source = (
        "import time\ndef f(x):\n    end = time.process_time() + x\n"
        "    while time.process_time() < end: pass\n    return x"
    )
    inputs = [0.1] * 23
    outcome = run(sandbox, source, *inputs, limits=Limits(case_s=2.0, total_s=120.0))
    assert [case.value for case in outcome.cases] == inputs


@pytest.mark.slow(reason="waits for limits of real processes")
def test_threads_cannot_use_more_cpu_than_a_case_has(sandbox: Sandbox) -> None:
    source = (
        "import hashlib, threading\ndef burn():\n    while True: hashlib.sha256(bytes(10**7))\n"
        "def f():\n    for _ in range(8): threading.Thread(target=burn).start()\n    burn()"
    )
    [case] = run(sandbox, source, [], limits=Limits(case_s=2.0, total_s=30.0)).cases
    assert case.end is CaseEnd.TIMED_OUT


def test_program_that_is_too_long_is_not_run(sandbox: Sandbox) -> None:
    outcome = run(sandbox, "def f(): return 1\n#" + "x" * 2_000_000, [])
    assert outcome.load.end is LoadEnd.TOO_LARGE
    assert outcome.cases[0].end is CaseEnd.NOT_RUN


@pytest.mark.parametrize(
    "source",
    ["def f():\n\x00", "def f(): return '\udc80'", "(" * 5000, "-" * 100_000 + "1", "x = 9" * 9],
    ids=["NUL", "surrogate", "brackets", "minus", "nonsense"],
)
def test_unreadable_source_is_the_programs_fault(sandbox: Sandbox, source: str) -> None:
    assert run(sandbox, source, []).load.end in {LoadEnd.SYNTAX_ERROR, LoadEnd.DIED}


@pytest.mark.parametrize(
    "source",
    [
        "import asyncio\nasync def g(): return 1\ndef f(): return asyncio.run(g())",
        "from dataclasses import *\n@dataclass\nclass A: x: int\ndef f(): return A(1).x",
        ("from multiprocessing.pool import ThreadPool\n"
        "def f(): return sum(ThreadPool(9).map(int, '1'))"),
        "import random, hashlib, decimal, json\ndef f(): return 1",
        "import sqlite3\ndef f(): return len([*sqlite3.connect(':memory:').execute('select 1')])",
        "import time\ndef f(): time.sleep(0.01); return 1",
        "if __name__ == '__main__':\n    input('never asked')\ndef f(): return 1",
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n=9999): return n and f(n - 1) or 1",
    ],
    ids=[
        "asyncio", "dataclass", "threads", "library", "sqlite", "sleep", "main", "recursion",
    ],
)  # fmt: skip
def test_ordinary_programs_run(sandbox: Sandbox, source: str) -> None:
    [case] = run(sandbox, source, []).cases
    assert case.value == 1, case


@pytest.mark.slow(reason="waits for limits of real processes")
def test_sets_have_the_same_order_every_time(sandbox: Sandbox) -> None:
    source = "def f(): return list({'apple', 'pear', 'plum', 'fig', 'date'})"
    orders = {tuple(run(sandbox, source, []).cases[0].value) for _ in range(3)}
    sandbox.close()
    orders.add(tuple(run(sandbox, source, []).cases[0].value))
    assert len(orders) == 1


def test_changed_arguments_do_not_reach_later_cases(sandbox: Sandbox) -> None:
    outcome = run(sandbox, "def f(x):\n    x.append(1)\n    return x", [[[0]]], [[[0]]])
    assert [case.value for case in outcome.cases] == [[[0], 1]] * 2


@pytest.mark.slow(reason="waits for limits of real processes")
@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="knows the channel by its number")
def test_program_that_answers_in_advance_and_never_listens_is_ended_in_time(
    sandbox: Sandbox,
) -> None:
    source = """
import marshal, os, struct, time
def framed(*message):
    content = marshal.dumps(message, 2)
    return struct.pack(">I", len(content)) + content
answers = framed("loaded") + framed("returned", 1) * 1000
while answers:
    answers = answers[os.write(3, answers):]
time.sleep(600)
"""
    inputs: list[Any] = [[]] * 1000
    outcome = run(sandbox, source, *inputs, limits=Limits(case_s=0.2, load_s=20.0, total_s=4.0))
    assert CaseEnd.TIMED_OUT in {case.end for case in outcome.cases}

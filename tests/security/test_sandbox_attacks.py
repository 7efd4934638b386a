"""What attacks on the sandbox have found, so that it stays closed; see docs/security.md.

Each attack is the code of a model's answer. It must get a score of 0 with a reason of bounded
length: a failure of ours would never count, and a full score would be stolen. `holds_from` is the
lowest level of isolation that promises to withstand it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from poor_bench.plugins import find_project_evaluators, load_evaluators
from poor_bench.plugins.registry import LoadedEvaluator
from poor_bench.sandbox import (
    Level,
    Limits,
    Mechanism,
    Program,
    Sandbox,
    find_sandbox_status,
    open_shared_sandbox,
)
from poor_bench.sandbox.program_runs import open_candidate_session
from poor_bench.scoring.verdict import MAX_DETAILS, Verdict

pytestmark = pytest.mark.slow(reason="real attacks, each in a process")

CALL = "def check(candidate):\n    assert candidate(1) == 1\n"
CASES: Mapping[str, Any] = {
    "test_cases": [
        {"input": [1], "expected_python": expected}
        for expected in ("1", "1.5", "{'1': 2}", "[{(1, 2): {3}}]", "{4}", "'x'", "1j")
    ]
}
FORGE = """
import marshal, os

def send(*message):
    content = marshal.dumps(message, 2)
    content = len(content).to_bytes(4, "big") + content
    for channel in 3, 4:
        rest = content
        try:
            while rest:
                rest = rest[os.write(channel, rest):]
        except OSError:
            pass
"""
"""The numbers are those of the channel with and without a zygote."""
NASTY = "'`E' * 450_000"


@dataclass(frozen=True)
class Attack:
    """Code that an answer consists of.

    Attributes:
        name: What it tries.
        source: Defines `f`.
        check: The test that calls it; cases of many types by default.
        holds_from: The lowest level that promises to withstand it.
    """

    name: str
    source: str
    check: str = ""
    holds_from: Level = Level.PROCESS
    limits: Mapping[str, Any] = field(default_factory=lambda: {"execution_timeout": 5.0})


FORGED_MESSAGES = {
    "an unsendable cause of 900 kB": f"('unsendable', {NASTY})",
    "an exception with 900 kB of text": f"('raised', ('ValueError', {NASTY}, None))",
    "an exception with a name of 900 kB": f"('raised', ({NASTY}, 'x', None))",
    "a line number of 5,000 digits": "('raised', ('ValueError', 'x', 10**5000))",
    "a negative line number": "('raised', ('ValueError', 'x', -1))",
    "a truth value for a line number": "('raised', ('ValueError', 'x', True))",
    "an exception without a text": "('raised', ('ValueError', None, None))",
    "text that cannot be stored": "('raised', ('ValueError', '\\ud800' * 999, None))",
    "an object with a name of 900 kB": f"('returned', (..., {NASTY}))",
    "an object with a name that cannot be stored": "('returned', (..., '\\ud800'))",
    "the end of its own check": "('checked', 'passed', None, ('loaded',), '', False)",
    "a process that is not ready": "('failed', 'no walls')",
    "the death of its process": "('silent', 'died')",
}
FORGED_LOADS = {
    "a missing function among 150,000": "('not_loaded', 'missing', None, ['`'] * 150_000)",
    "a missing function with a name of 900 kB": f"('not_loaded', 'missing', None, [{NASTY}])",
    "a syntax error of 900 kB": f"('not_loaded', 'syntax', ('E', {NASTY}, 1), [])",
    "a syntax error in line 10**5000": "('not_loaded', 'syntax', ('E', 'x', 10**5000), [])",
    "functions that are numbers": "('not_loaded', 'missing', None, [1])",
}
VALUES = {
    "a dict with a key of 5,000 digits": "{10**5000: 2}",
    "a nested key of 5,000 digits": "[{(1, 10**5000): {10**5000}}]",
    "a number of 5,000 digits": "10**5000",
    "a list of numbers of 5,000 digits": "[-(10**5000)] * 100",
    "lone surrogates": "'\\ud800' * 1000",
    "NaN as several keys": "{float('nan'): 1, float('nan'): 2, 1: float('nan')}",
    "an object": "object()",
    "a type": "type('`' * 100_000, (), {})()",
    "an iterator": "iter([1])",
    "a generator": "(number for number in [1])",
    "NotImplemented": "NotImplemented",
    "many empty dicts": "[{}] * 90_000",
    "text of 2 MB": "'x' * 2_000_000",
    "infinity as a complex number": "complex('nan+infj')",
}
HOSTILE_CLASS = """
class Hostile{base}:
    {body}
def f(x): return {value}
"""
HOSTILE_OBJECTS = {
    "an object whose repr raises": ("", "def __repr__(self): raise KeyboardInterrupt", "Hostile()"),
    "a list whose iteration hangs": (
        "(list)", "def __iter__(self):\n        while True: pass", "Hostile([1])",
    ),
    "a number that equals everything": (
        "(int)", "def __eq__(self, other): return True\n    __hash__ = int.__hash__", "Hostile(7)",
    ),
    "a key whose hash raises": (
        "(int)", "def __hash__(self): raise SystemExit", "[Hostile(7)]",
    ),
    "a text whose reduction hangs": (
        "(str)", "def __reduce_ex__(self, _):\n        while True: pass", "Hostile('7')",
    ),
    "an object that claims to be a number": (
        "", "__class__ = int\n    __eq__ = lambda self, other: True", "Hostile()",
    ),
}  # fmt: skip
RAISED = (
    "StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit", "KeyboardInterrupt",
    "type('Own', (BaseException,), {})", "type('StopIteration', (StopIteration,), {})",
)  # fmt: skip
ITERATES = {
    "map": "assert all(map(candidate, [1, 2, 3]))",
    "zip": "for got, right in zip(map(candidate, [1, 2]), [1, 2]): assert got == right",
    "iter": "assert [] == [value for value in iter(lambda: candidate(1), 5) if value != 1]",
    "generator": "assert sum(candidate(number) == 0 for number in [1, 2, 3]) == 0",
}
PASSED_BACK = {
    "an object": "object()",
    "an object in a list": "[{'a': object()}]",
    "itself": "f",
    "text that becomes too long": "'x' * 1_000_000",
    "nesting that becomes too deep": "nested(100)",
}
NESTED = "def nested(n): return [nested(n - 1)] if n else []\n"


def attacks() -> list[Attack]:
    found = []
    for name, message in FORGED_MESSAGES.items():
        source = f"{FORGE}\ndef f(x):\n    send(*{message})\n    os._exit(0)\n"
        found += [Attack(name, source), Attack(f"{name}, checked", source, check=CALL)]
    for name, message in FORGED_LOADS.items():
        source = f"{FORGE}\nsend(*{message})\nos._exit(0)\ndef f(x): return 1\n"
        found += [Attack(name, source), Attack(f"{name}, checked", source, check=CALL)]
    for name, value in VALUES.items():
        source = f"def f(x): return {value}\n"
        found += [Attack(name, source), Attack(f"{name}, checked", source, check=CALL)]
    for name, (base, body, value) in HOSTILE_OBJECTS.items():
        source = HOSTILE_CLASS.format(base=base, body=body, value=value)
        limits = {"execution_timeout": 0.5}
        found += [
            Attack(name, source, limits=limits),
            Attack(f"{name}, checked", source, check=CALL, limits=limits),
        ]
    for raised in RAISED:
        for how, line in ITERATES.items():
            source = f"def f(x): raise {raised}\n"
            found.append(Attack(f"{raised} in {how}", source, check=checking(line)))
    for name, value in PASSED_BACK.items():
        line = "assert candidate([candidate(1), candidate(1)]) == 5"
        source = f"{NESTED}\ndef f(x): return {value}\n"
        found.append(Attack(f"{name} passed back", source, check=checking(line)))
    return found


def checking(line: str) -> str:
    return f"def check(candidate):\n    {line}\n"


@pytest.fixture(scope="module")
def evaluator() -> LoadedEvaluator:
    return load_evaluators([find_project_evaluators()]).get("python_evaluator")


def verdict_on(attack: Attack, evaluator: LoadedEvaluator) -> Verdict:
    parameters: dict[str, Any] = {"function_name": "f", **attack.limits}
    parameters |= {"check_source": attack.check} if attack.check else CASES
    return evaluator.evaluate(f"```python\n{attack.source}\n```", parameters)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_attack_scores_zero_with_a_short_reason(attack: Attack, evaluator: LoadedEvaluator) -> None:
    if find_sandbox_status().level < attack.holds_from:
        pytest.skip(f"needs level {attack.holds_from.label}")
    verdict = verdict_on(attack, evaluator)
    assert verdict.score == 0.0
    assert "too long to be run" not in verdict.details
    assert 0 < len(verdict.details) <= MAX_DETAILS
    orjson.dumps(verdict.details)


THREADS = """
import _thread
_thread.stack_size(32768)

def f(limit):
    lock = _thread.allocate_lock()
    lock.acquire()
    for number in range(limit):
        try:
            _thread.start_new_thread(lock.acquire, ())
        except RuntimeError:
            return number
    return limit
"""


def test_threads_of_one_program_are_limited_and_others_keep_theirs() -> None:
    assert Mechanism.TASK_LIMIT not in find_sandbox_status().missing
    limits = Limits(case_s=20.0, total_s=60.0)
    program = Program(source=THREADS, function="f", limits=limits)
    other = Sandbox()
    with (
        open_shared_sandbox().launcher() as launcher,
        open_candidate_session(launcher, program, [4 * limits.tasks], math.inf) as session,
    ):
        session.load()
        n_started = session.run_case(0).value
        assert 0 < n_started <= limits.tasks
        [meanwhile] = other.run_cases(program, [20]).cases
        assert meanwhile.value == 20
    other.close()
    [afterwards] = open_shared_sandbox().run_cases(program, [20]).cases
    assert afterwards.value == 20

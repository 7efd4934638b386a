"""Programs that are killed: maybe by themselves, maybe by a system that is out of memory."""

from __future__ import annotations

import pytest

from poor_bench.sandbox import CaseEnd, Check, CheckEnd, LoadEnd, Program, Sandbox
from poor_bench.sandbox.channel import Channel, ChannelClosedError
from poor_bench.sandbox.children import ChildOutputFile, ChildProcess
from poor_bench.sandbox.encoding import encode
from poor_bench.sandbox.launchers import PipeLauncher
from poor_bench.sandbox.program import Exit

PLUS_ONE = Program(source="def f(x): return x + 1", function="f")
TEST = Check(source="def check(candidate):\n    assert candidate(1) == 2\n")
AT_LOADING, AT_A_CASE = [("ready",)], [("ready",), ("loaded",)]


class LastWords:
    """A connection to a child that said something, and is gone."""

    def __init__(self, messages: list[tuple[str]]) -> None:
        self._messages = list(messages)

    def read(self, _deadline: float | None) -> bytes:
        if not self._messages:
            raise ChannelClosedError
        encoded = encode(self._messages.pop(0))
        return len(encoded).to_bytes(4) + encoded

    def write(self, content: bytes, _deadline: float | None) -> None:
        del content


class KilledChild:
    def __init__(self, messages: list[tuple[str]]) -> None:
        self.channel = Channel(LastWords(messages))
        self.output = ChildOutputFile()

    def hand_over(self, _other: Channel, _message: object, _deadline: float) -> bool:
        return False

    def end(self) -> Exit:
        return Exit(status=-9, cpu_s=0.01)


class KillingLauncher(PipeLauncher):
    """Its first programs are killed."""

    def __init__(self, n_killed: int, last_words: list[tuple[str]]) -> None:
        self.n_to_kill = n_killed
        self.last_words = last_words

    def launch(self, *, is_apart: bool = False) -> ChildProcess:  # type: ignore[override]
        if is_apart or self.n_to_kill == 0:
            return super().launch(is_apart=is_apart)
        self.n_to_kill -= 1
        return KilledChild(self.last_words)


@pytest.mark.parametrize("last_words", [AT_LOADING, AT_A_CASE], ids=["loading", "case"])
def test_program_that_was_killed_once_is_run_again(last_words: list[tuple[str]]) -> None:
    launcher = KillingLauncher(1, last_words)
    outcome = Sandbox(lambda _: launcher).run_cases(PLUS_ONE, [1, 2])
    assert [case.value for case in outcome.cases] == [2, 3]


@pytest.mark.parametrize("last_words", [AT_LOADING, AT_A_CASE], ids=["loading", "call"])
def test_checked_program_that_was_killed_once_is_run_again(last_words: list[tuple[str]]) -> None:
    launcher = KillingLauncher(1, last_words)
    sandbox = Sandbox(lambda _: launcher)
    assert sandbox.run_check(PLUS_ONE, TEST).end is CheckEnd.PASSED
    sandbox.close()


def test_program_that_is_killed_every_time_has_died() -> None:
    at_loading, at_a_case = KillingLauncher(9, AT_LOADING), KillingLauncher(9, AT_A_CASE)
    assert Sandbox(lambda _: at_loading).run_cases(PLUS_ONE, [1]).load.end is LoadEnd.DIED
    cases = Sandbox(lambda _: at_a_case).run_cases(PLUS_ONE, [1, 2]).cases
    assert [case.end for case in cases] == [CaseEnd.DIED, CaseEnd.DIED]


def test_checked_program_that_is_killed_every_time_has_died() -> None:
    launcher = KillingLauncher(9, AT_A_CASE)
    sandbox = Sandbox(lambda _: launcher)
    outcome = sandbox.run_check(PLUS_ONE, TEST)
    assert (outcome.end, outcome.cause) == (CheckEnd.DIED, "was killed")
    sandbox.close()

"""Trials that try to pass without a right answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from poor_bench.sandbox.levels import Level
from poor_bench.sandbox.outcomes import CheckEnd
from poor_bench.sandbox.program import Check
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.selftest import attacks
from poor_bench.sandbox.selftest.ground import Ground
from poor_bench.sandbox.selftest.trial import Trial, program_of


def _passes(attack: Callable[..., object]) -> Callable[[Sandbox, Ground], str]:
    def evidence(sandbox: Sandbox, _ground: Ground) -> str:
        answer = secrets.token_hex(8)
        check = Check(source=f"def check(candidate):\n    assert candidate() == {answer!r}\n")
        outcome = sandbox.run_check(program_of(attack), check)
        return "a test passed" if outcome.end is CheckEnd.PASSED else ""

    return evidence


def _finds_answer(sandbox: Sandbox, _ground: Ground) -> str:
    answer = f"answer-{secrets.token_hex(8)}"
    check = Check(source=f"def check(candidate):\n    assert candidate('answer') == {answer!r}\n")
    outcome = sandbox.run_check(program_of(attacks.find_answer), check)
    return "a program found the right answer" if outcome.end is CheckEnd.PASSED else ""


TRIALS = (
    Trial("forged replies", Level.PROCESS, _passes(attacks.forge_replies)),
    Trial("looking for the right answer", Level.PROCESS, _finds_answer),
    Trial("leaving at once", Level.PROCESS, _passes(attacks.leave_at_once)),
    Trial("leaving politely", Level.PROCESS, _passes(attacks.exit_politely)),
    Trial("killing itself", Level.PROCESS, _passes(attacks.kill_itself)),
    Trial("crashing", Level.PROCESS, _passes(attacks.crash)),
)

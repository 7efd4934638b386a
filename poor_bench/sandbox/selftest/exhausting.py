"""Trials that use up what there is, or outlive their time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from poor_bench.sandbox.candidate_session import CandidateSession, candidate_session
from poor_bench.sandbox.levels import Level, Mechanism
from poor_bench.sandbox.outcomes import CaseEnd
from poor_bench.sandbox.sandbox import Sandbox
from poor_bench.sandbox.selftest import attacks
from poor_bench.sandbox.selftest.ground import Ground
from poor_bench.sandbox.selftest.trial import LIMITS, Trial, attempt, claim, program_of

_GRACE_S = 10.0
"""How much later than its limit a program may be gone on a busy machine."""
_HEARTBEATS_S = 0.3


def _output(sandbox: Sandbox, _ground: Ground) -> str:
    outcome = attempt(sandbox, attacks.flood_output, LIMITS.file_bytes)
    if len(outcome.output) > LIMITS.output_bytes:
        return f"{len(outcome.output):,} characters were kept"
    return outcome.value if outcome.end is CaseEnd.RETURNED else ""


def _loop(sandbox: Sandbox, _ground: Ground) -> str:
    with _loaded(sandbox, attacks.loop_forever) as session:
        start = time.monotonic()
        session.run_case(0)
        session.child.end()
        duration = time.monotonic() - start
    return f"ran for {duration:.1f} s" if duration > LIMITS.case_s + _GRACE_S else ""


def _daemon(sandbox: Sandbox, _ground: Ground) -> str:
    with _loaded(sandbox, attacks.leave_daemon) as session:
        session.run_case(0)
        session.child.end()
        session.child.take_output()
        time.sleep(_HEARTBEATS_S)
        return "a daemon is still alive" if session.child.take_output() else ""


@contextmanager
def _loaded(sandbox: Sandbox, attack: Callable[..., object]) -> Iterator[CandidateSession]:
    """Yield an attack that is loaded: the start of a process takes as long as the machine needs."""
    with (
        sandbox.launcher() as launcher,
        candidate_session(launcher, program_of(attack), [[]], math.inf) as session,
    ):
        session.load()
        yield session


TRIALS = (
    Trial(
        "fork bomb",
        Level.ISOLATED,
        lambda sandbox, _: claim(sandbox, attacks.fork_many),
    ),
    Trial(
        "thread bomb",
        Level.PROCESS,
        lambda sandbox, _: claim(sandbox, attacks.start_threads, LIMITS.tasks),
        needs=Mechanism.TASK_LIMIT,
    ),
    Trial(
        "memory bomb",
        Level.LIMITS,
        lambda sandbox, _: claim(sandbox, attacks.take_memory, LIMITS.memory_bytes),
    ),
    Trial("output flood", Level.LIMITS, _output),
    Trial("endless loop", Level.PROCESS, _loop),
    Trial("daemon that outlives its program", Level.ISOLATED, _daemon),
)

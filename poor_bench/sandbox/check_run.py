"""Checks one program with a test that lives in another child."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.death import describe_exit, ran_out_of_cpu
from poor_bench.sandbox.host.checker import Checker, CheckerPool
from poor_bench.sandbox.host.child_process import Launcher
from poor_bench.sandbox.host.running_child import RunningChild, running_child
from poor_bench.sandbox.host.scratch import scratch_folder
from poor_bench.sandbox.outcomes import CheckEnd, CheckOutcome, LoadEnd, LoadOutcome
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.wire.channel import ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.messages import CandidateOrder, CheckRequest, message_to_check

_ANY_NAME = "candidate"
_LOADED = LoadOutcome(end=LoadEnd.LOADED)


class CheckRun:
    """One program and the test that checks it.

    The program is the candidate in one child. The test is in another: it calls the candidate from
    afar, and gets plain data back.
    """

    def __init__(
        self, launcher: Launcher, checkers: CheckerPool, program: Program, check: Check
    ) -> None:
        self._launcher = launcher
        self._checkers = checkers
        self._program = program
        self._check = check
        self._limits = program.limits
        self._cpu_s = max(1, math.ceil(self._limits.total_s))

    def run(self) -> CheckOutcome:
        """Check the program.

        Raises:
            SandboxError: If children cannot be started or locked in.
            EncodeError: If program or test are too large to be sent.
        """
        while True:
            checker = self._checkers.take()
            outcome = self._run_with(checker)
            if outcome is not None:
                return outcome

    def _run_with(self, checker: Checker) -> CheckOutcome | None:
        """Check the program with one checker; None if that died of something earlier."""
        deadline = time.monotonic() + self._limits.total_s
        with (
            scratch_folder(self._launcher.missing()) as scratch,
            running_child(self._launcher, self._order(scratch)) as candidate,
        ):
            outcome = self._outcome(checker, candidate, deadline)
            if outcome is None:
                return None
            if outcome.end is CheckEnd.DIED and not outcome.cause:
                outcome = self._explain_death(outcome, candidate)
            return replace(outcome, output=candidate.take_output())

    def _outcome(
        self, checker: Checker, candidate: RunningChild, deadline: float
    ) -> CheckOutcome | None:
        message = None
        try:
            message = checker.check(self._request(), candidate, deadline)
        except DeadlineError:
            return CheckOutcome(end=CheckEnd.TIMED_OUT, load=_LOADED)
        except ChannelClosedError:
            return None if checker.is_reused else _death_of(checker)
        finally:
            if message is None or message[-1]:
                checker.end()
            else:
                self._checkers.give_back(checker)
        if message[0] == "failed":
            reason = f"a program cannot be locked in: {message[1]}"
            raise SandboxError(reason, kind=FailureKind.SANDBOX)
        return message_to_check(message)

    def _explain_death(self, outcome: CheckOutcome, candidate: RunningChild) -> CheckOutcome:
        end = candidate.end()
        if not ran_out_of_cpu(end, self._cpu_s):
            return replace(outcome, cause=describe_exit(end))
        load = outcome.load
        if load.end is LoadEnd.DIED:
            load = replace(load, end=LoadEnd.TIMED_OUT)
        return replace(outcome, end=CheckEnd.TIMED_OUT, load=load)

    def _order(self, scratch: str | None) -> CandidateOrder:
        return CandidateOrder(
            source=self._program.source,
            function=self._program.function,
            inputs=[],
            scratch=scratch,
            limits=self._limits,
            cpu_s=self._cpu_s,
        )

    def _request(self) -> CheckRequest:
        return CheckRequest(
            source=self._check.source,
            setup=self._check.setup,
            function=self._program.function or _ANY_NAME,
            call_s=self._limits.case_s,
        )


def _death_of(checker: Checker) -> CheckOutcome:
    end = checker.end()
    if ran_out_of_cpu(end, checker.cpu_s):
        return CheckOutcome(end=CheckEnd.TIMED_OUT, load=_LOADED)
    cause = f"the process of the test {describe_exit(end)}"
    return CheckOutcome(end=CheckEnd.DIED, load=_LOADED, cause=cause)

"""Checks one program with a test that lives in another child."""

from __future__ import annotations

import time
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.death import describe_exit, ran_out_of_cpu, was_killed
from poor_bench.sandbox.host.checker import Checker
from poor_bench.sandbox.host.running_child import RunningChild, running_child
from poor_bench.sandbox.host.scratch import scratch_folder
from poor_bench.sandbox.host.stations import Station
from poor_bench.sandbox.outcomes import CheckEnd, CheckOutcome, ErrorReport, LoadEnd, LoadOutcome
from poor_bench.sandbox.program import Check, Program
from poor_bench.sandbox.wire.channel import ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.decoding import DecodeError
from poor_bench.sandbox.wire.messages import CandidateOrder, CheckRequest, message_to_check

_ANY_NAME = "candidate"
_LOADED = LoadOutcome(end=LoadEnd.LOADED)


class CheckRun:
    """One program and the test that checks it.

    The program is the candidate in one child. The test is in another: it calls the candidate from
    afar, and gets plain data back.
    """

    def __init__(self, station: Station, program: Program, check: Check) -> None:
        self._launcher = station.launcher
        self._checkers = station.checkers
        self._program = program
        self._check = check
        self._limits = program.limits
        self._cpu_s = self._limits.cpu_s_in_all
        self._has_second_chance = True

    def run(self) -> CheckOutcome:
        """Check the program.

        Raises:
            SandboxError: If children cannot be started or locked in.
            EncodeError: If program or test are too large to be sent.
        """
        if self._program.is_too_large:
            return CheckOutcome(end=CheckEnd.NOT_LOADED, load=LoadOutcome(end=LoadEnd.TOO_LARGE))
        outcome = None
        while outcome is None:
            outcome = self._run_once()
        return outcome

    def _run_once(self) -> CheckOutcome | None:
        """Check the program; None if it has to be done again.

        That is so where the checker had died of something earlier, and, once, where the program
        was killed: it may have been none of its doing.
        """
        with (
            scratch_folder(self._launcher.missing()) as scratch,
            running_child(self._launcher, self._order(scratch)) as candidate,
        ):
            outcome = self._outcome(self._checkers.take(), candidate)
            if outcome is None:
                return None
            if outcome.end is CheckEnd.DIED:
                if self._has_second_chance and was_killed(candidate.end(), self._cpu_s):
                    self._has_second_chance = False
                    return None
                outcome = self._explain_death(outcome, candidate)
            return outcome._replace(
                source_line=self._failed_line(outcome), output=candidate.take_output()
            )

    def _failed_line(self, outcome: CheckOutcome) -> str:
        """Return the line of the test that failed; empty if none did."""
        if outcome.end is not CheckEnd.FAILED or outcome.error is None:
            return ""
        lines = self._check.source.splitlines()
        number = outcome.error.line or 0
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _outcome(self, checker: Checker, candidate: RunningChild) -> CheckOutcome | None:
        deadline = time.monotonic() + self._limits.total_s
        is_as_good_as_new = False
        try:
            message = checker.check(self._request(), candidate, deadline)
            outcome, is_as_good_as_new = _read(message)
        except DeadlineError:
            return CheckOutcome(end=CheckEnd.TIMED_OUT, load=_LOADED)
        except ChannelClosedError:
            return None if checker.is_reused else _death_of(checker)
        except DecodeError as error:
            report = ErrorReport(type_name="DecodeError", message=f"its process sent {error}")
            return CheckOutcome(end=CheckEnd.BROKEN, load=_LOADED, error=report)
        finally:
            if is_as_good_as_new:
                self._checkers.give_back(checker)
            else:
                checker.end()
        return outcome

    def _explain_death(self, outcome: CheckOutcome, candidate: RunningChild) -> CheckOutcome:
        end = candidate.end()
        if not ran_out_of_cpu(end, self._cpu_s):
            return outcome._replace(cause=describe_exit(end))
        load = outcome.load
        if load.end is LoadEnd.DIED:
            load = load._replace(end=LoadEnd.TIMED_OUT)
        return outcome._replace(end=CheckEnd.TIMED_OUT, load=load)

    def _order(self, scratch: str | None) -> CandidateOrder:
        return CandidateOrder(
            setup=self._program.setup,
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


def _read(message: Any) -> tuple[CheckOutcome, bool]:
    """Return how a check ended, and whether its checker is as good as new."""
    match message:
        case ("failed", str() as reason, bool()):
            told = f"a program cannot be locked in: {reason}"
            raise SandboxError(told, kind=FailureKind.SANDBOX)
        case (*_, bool() as is_spent):
            return message_to_check(message), not is_spent
    raise DecodeError("a check of an unknown form")


def _death_of(checker: Checker) -> CheckOutcome:
    cause = f"its process {describe_exit(checker.end())}"
    return CheckOutcome(end=CheckEnd.BROKEN, load=_LOADED, cause=cause)

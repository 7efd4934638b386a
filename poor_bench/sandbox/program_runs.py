"""Run one program in the sandbox: its cases in as many children as it takes, or a test against it.

A child that holds a program is asked for one case after the other. A test lives in another child,
which calls the candidate from afar.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.children import (
    Launcher,
    RunningChild,
    running_child,
    scratch_folder,
    wait_until_ready,
)
from poor_bench.sandbox.host.workers import Checker, SandboxWorker
from poor_bench.sandbox.program import (
    CaseEnd,
    CaseOutcome,
    Check,
    CheckEnd,
    CheckOutcome,
    ErrorReport,
    Exit,
    Limits,
    LoadEnd,
    LoadOutcome,
    Program,
    ProgramOutcome,
)
from poor_bench.sandbox.wire.channel import ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.encoding import DecodeError
from poor_bench.sandbox.wire.messages import (
    CandidateOrder,
    CheckRequest,
    message_to_case,
    message_to_check,
    message_to_load,
)

_KILLED = -9
_LEAST_SHARE = 0.5
"""Of the limit that is certainly used: the kernel counts whole clock ticks, and reports time."""


def ran_out_of_cpu(end: Exit, cpu_s: int) -> bool:
    """Return whether the kernel killed a child for its use of CPU time."""
    is_far_in_use = end.cpu_s >= cpu_s * _LEAST_SHARE
    return end.status == _KILLED and is_far_in_use and not end.had_too_many_tasks


def was_killed(end: Exit, cpu_s: int) -> bool:
    """Return whether a child was killed, and not for its use of CPU time or its many tasks.

    That may have been the program itself, or something outside, such as a system without memory.
    """
    is_explained = end.had_too_many_tasks or ran_out_of_cpu(end, cpu_s)
    return end.status == _KILLED and not is_explained


def describe_exit(end: Exit) -> str:
    """Return how a process ended, as the end of a sentence.

    Example:
        >>> describe_exit(Exit(status=3, cpu_s=0.1))
        'exited with code 3'
    """
    if end.had_too_many_tasks:
        return f"was killed: it had more than {Limits().tasks} threads and processes"
    if end.status >= 0:
        return f"exited with code {end.status}"
    if end.status == _KILLED:
        return "was killed"
    try:
        return f"was killed by {signal.Signals(-end.status).name}"
    except ValueError:
        return f"was killed by signal {-end.status}"


@contextmanager
def candidate_session(
    launcher: Launcher, program: Program, inputs: list[Any], deadline: float
) -> Iterator[CandidateSession]:
    """Start a child that holds a program; it and all that it started are gone afterwards.

    Args:
        launcher: Starts it.
        program: What it holds.
        inputs: Of its cases.
        deadline: When all has to be over, in seconds of `time.monotonic`.

    Raises:
        SandboxError: If the child cannot be started or locked in.
        EncodeError: If program or inputs are too large to be sent.
    """
    limits = program.limits
    with scratch_folder(launcher.missing()) as scratch:
        order = CandidateOrder(
            setup=program.setup,
            source=program.source,
            function=program.function,
            inputs=inputs,
            scratch=scratch,
            limits=limits,
            cpu_s=limits.cpu_s,
        )
        with running_child(launcher, order) as child:
            wait_until_ready(child)
            yield CandidateSession(child, limits, deadline)


class CandidateSession:
    """Talks to one candidate.

    Attributes:
        child: The process that holds it.
        is_out_of_cpu: Whether the kernel ended the child for its use of CPU time.
        was_killed: Whether it was killed by something else, maybe from outside.
    """

    def __init__(self, child: RunningChild, limits: Limits, deadline: float) -> None:
        self.child = child
        self.is_out_of_cpu = False
        self.was_killed = False
        self._limits = limits
        self._deadline = deadline

    def load(self) -> LoadOutcome:
        """Return how loading the program ended."""
        try:
            deadline = self._deadline_in(self._limits.longest_load_s)
            return message_to_load(self.child.channel.receive(deadline))
        except DeadlineError:
            return LoadOutcome(end=LoadEnd.TIMED_OUT)
        except DecodeError as error:
            return LoadOutcome(end=LoadEnd.GARBLED, cause=str(error))
        except ChannelClosedError:
            cause = self._cause_of_death()
            end = LoadEnd.TIMED_OUT if self.is_out_of_cpu else LoadEnd.DIED
            return LoadOutcome(end=end, cause=cause)

    def run_case(self, index: int) -> CaseOutcome:
        """Return how a case ended; after some ends the child is of no more use."""
        outcome = self._outcome_of(("case", index))
        return outcome._replace(output=self.child.take_output())

    def _outcome_of(self, request: tuple[Any, ...]) -> CaseOutcome:
        deadline = self._deadline_in(self._limits.case_s)
        try:
            self.child.channel.send_trusted(request, deadline)
            return message_to_case(self.child.channel.receive(deadline))
        except DeadlineError:
            return CaseOutcome(end=CaseEnd.TIMED_OUT)
        except DecodeError as error:
            return CaseOutcome(end=CaseEnd.GARBLED, cause=str(error))
        except ChannelClosedError:
            cause = self._cause_of_death()
            end = CaseEnd.TIMED_OUT if self.is_out_of_cpu else CaseEnd.DIED
            return CaseOutcome(end=end, cause=cause)

    def _deadline_in(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._deadline)

    def _cause_of_death(self) -> str:
        end = self.child.end()
        self.is_out_of_cpu = ran_out_of_cpu(end, self._limits.cpu_s)
        self.was_killed = was_killed(end, self._limits.cpu_s)
        return f"used {end.cpu_s:.1f} s of CPU" if self.is_out_of_cpu else describe_exit(end)


_ENDS_OF_A_CHILD = frozenset({CaseEnd.TIMED_OUT, CaseEnd.DIED, CaseEnd.GARBLED})


class CaseRun:
    """One program and its cases.

    Cases run one after the other in one child for as long as it lasts; after a case that ended
    it, the next one runs in a new child. A child that was killed gets a second chance, once: it
    may have been none of its doing.
    """

    def __init__(self, launcher: Launcher, program: Program, inputs: Sequence[Any]) -> None:
        self._launcher = launcher
        self._program = program
        self._inputs = list(inputs)
        self._deadline = time.monotonic() + program.limits.total_s
        self._outcomes: list[CaseOutcome] = []
        self._has_second_chance = True

    def run(self) -> ProgramOutcome:
        """Run all cases that the time in all suffices for.

        Raises:
            SandboxError: If children cannot be started or locked in.
        """
        load, output = LoadOutcome(end=LoadEnd.TOO_LARGE), ""
        if not self._program.is_too_large:
            load, output = self._run_in_new_child()
        is_loaded = load.end is LoadEnd.LOADED
        while is_loaded and self._is_unfinished():
            again, _ = self._run_in_new_child()
            is_loaded = again.end is LoadEnd.LOADED
        n_not_run = len(self._inputs) - len(self._outcomes)
        not_run = [CaseOutcome(end=CaseEnd.NOT_RUN)] * n_not_run
        return ProgramOutcome(load=load, cases=(*self._outcomes, *not_run), output=output)

    def _is_unfinished(self) -> bool:
        return len(self._outcomes) < len(self._inputs) and time.monotonic() < self._deadline

    def _run_in_new_child(self) -> tuple[LoadOutcome, str]:
        """Run cases until the child ends; return how loading ended, and its output."""
        with candidate_session(
            self._launcher, self._program, self._inputs, self._deadline
        ) as session:
            load = session.load()
            output = session.child.take_output()
            if load.end is LoadEnd.LOADED:
                self._run_cases(session)
            is_over = not (session.was_killed and load.end is LoadEnd.DIED and self._take_chance())
        return (load, output) if is_over else self._run_in_new_child()

    def _run_cases(self, session: CandidateSession) -> None:
        n_before = len(self._outcomes)
        while self._is_unfinished():
            outcome = session.run_case(len(self._outcomes))
            if session.is_out_of_cpu and len(self._outcomes) > n_before:
                return  # earlier cases used part of the time: this one gets a child of its own
            if session.was_killed and self._take_chance():
                return
            self._outcomes.append(outcome)
            if outcome.end in _ENDS_OF_A_CHILD:
                return

    def _take_chance(self) -> bool:
        """Return whether there was a second chance; there is none from now on."""
        had_chance, self._has_second_chance = self._has_second_chance, False
        return had_chance


_ANY_NAME = "candidate"
_LOADED = LoadOutcome(end=LoadEnd.LOADED)


class CheckRun:
    """One program and the test that checks it.

    The program is the candidate in one child. The test is in another: it calls the candidate from
    afar, and gets plain data back.
    """

    def __init__(self, station: SandboxWorker, program: Program, check: Check) -> None:
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

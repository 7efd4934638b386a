"""Run one program in the sandbox: its cases in as many children as it takes, or a test against it.

A child that holds a program is asked for one case after the other. A test lives in another child,
which calls the candidate from afar. A program that was killed gets a second chance, once: a system
without memory may have killed it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from poor_bench.errors import SandboxError
from poor_bench.sandbox.channel import ChannelClosedError, DeadlineError
from poor_bench.sandbox.children import Launcher, RunningChild, run_child
from poor_bench.sandbox.encoding import DecodeError
from poor_bench.sandbox.messages import (
    CandidateOrder,
    CheckRequest,
    message_to_case,
    message_to_check,
    message_to_load,
)
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
from poor_bench.sandbox.workers import Checker, SandboxWorker

_KILLED = -9
# of the CPU limit that is certainly used: the kernel counts whole clock ticks, and reports time
_LEAST_SHARE = 0.5
_ENDS_OF_A_CHILD = frozenset({CaseEnd.TIMED_OUT, CaseEnd.DIED, CaseEnd.GARBLED})
_ANY_NAME = "candidate"
_LOADED = LoadOutcome(end=LoadEnd.LOADED)
_TOO_LARGE = LoadOutcome(end=LoadEnd.TOO_LARGE)
_Outcome = TypeVar("_Outcome")


@contextmanager
def open_candidate_session(
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
    with run_child(launcher, _order(program, program.limits.cpu_s, inputs)) as child:
        child.wait_until_ready()
        yield CandidateSession(child, program.limits, deadline)


def _order(program: Program, cpu_s: int, inputs: list[Any]) -> CandidateOrder:
    return CandidateOrder(
        limits=program.limits,
        cpu_s=cpu_s,
        setup=program.setup,
        source=program.source,
        function=program.function,
        inputs=inputs,
    )


class CandidateSession:
    """Talks to one candidate.

    Attributes:
        child: The process that holds it.
        is_out_of_cpu: True if the kernel ended the child for its use of CPU time.
        was_killed: True if it was killed by something else, maybe from outside.
    """

    def __init__(self, child: RunningChild, limits: Limits, deadline: float) -> None:
        self.child = child
        self.is_out_of_cpu = False
        self.was_killed = False
        self._limits = limits
        self._deadline = deadline

    def load(self) -> LoadOutcome:
        """Wait until the program is loaded, and tell how that ended."""
        try:
            return self._converse(None, self._limits.longest_load_s, message_to_load)
        except _NoAnswerError as failure:
            return LoadOutcome(end=LoadEnd(failure.end), cause=failure.cause)

    def run_case(self, index: int) -> CaseOutcome:
        """Run a case and tell how it ended; after some ends the child is of no more use."""
        try:
            outcome = self._converse(("case", index), self._limits.case_s, message_to_case)
        except _NoAnswerError as failure:
            outcome = CaseOutcome(end=CaseEnd(failure.end), cause=failure.cause)
        return outcome._replace(output=self.child.take_output())

    def _converse(
        self, request: object, seconds: float, read: Callable[[Any], _Outcome]
    ) -> _Outcome:
        """Send a request, if there is one, and read the answer."""
        deadline = min(time.monotonic() + seconds, self._deadline)
        try:
            if request is not None:
                self.child.channel.send_trusted(request, deadline)
            return read(self.child.channel.receive(deadline))
        except DeadlineError as error:
            raise _NoAnswerError("timed out") from error
        except DecodeError as error:
            raise _NoAnswerError("garbled", str(error)) from error
        except ChannelClosedError as error:
            raise self._explain_death() from error

    def _explain_death(self) -> _NoAnswerError:
        end, limit = self.child.end(), self._limits.cpu_s
        self.is_out_of_cpu = _ran_out_of_cpu(end, limit)
        self.was_killed = _was_killed(end, limit)
        if self.is_out_of_cpu:
            return _NoAnswerError("timed out", f"used {end.cpu_s:.1f} s of CPU")
        return _NoAnswerError("died", _describe_exit(end))


class _NoAnswerError(Exception):
    """A candidate did not answer; `end` is a value of both `LoadEnd` and `CaseEnd`."""

    def __init__(self, end: str, cause: str = "") -> None:
        super().__init__(end)
        self.end = end
        self.cause = cause


class CaseRun:
    """One program and its cases.

    Cases run one after the other in one child for as long as it lasts; after a case that ended
    it, the next one runs in a new child.
    """

    def __init__(self, launcher: Launcher, program: Program, inputs: Sequence[Any]) -> None:
        self._launcher = launcher
        self._program = program
        self._inputs = list(inputs)
        self._deadline = time.monotonic() + program.limits.total_s
        self._outcomes: list[CaseOutcome] = []
        self._has_second_chance = True

    def run(self) -> ProgramOutcome:
        """Run all cases that the total time suffices for.

        Raises:
            SandboxError: If children cannot be started or locked in.
        """
        load, output = _TOO_LARGE, ""
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
        with open_candidate_session(
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
        """Use up the second chance; False if it was used before."""
        had_chance, self._has_second_chance = self._has_second_chance, False
        return had_chance


class CheckRun:
    """One program and the test that checks it.

    The program is the candidate in one child. The test is in another: it calls the candidate from
    afar, and gets plain data back.
    """

    def __init__(self, worker: SandboxWorker, program: Program, check: Check) -> None:
        self._worker = worker
        self._program = program
        self._check = check
        self._cpu_s = program.limits.total_cpu_s
        self._has_second_chance = True

    def run(self) -> CheckOutcome:
        """Check the program.

        Raises:
            SandboxError: If children cannot be started or locked in.
            EncodeError: If program or test are too large to be sent.
        """
        if self._program.is_too_large:
            return CheckOutcome(end=CheckEnd.NOT_LOADED, load=_TOO_LARGE)
        outcome = None
        while outcome is None:
            outcome = self._run_once()
        return outcome

    def _run_once(self) -> CheckOutcome | None:
        """Check the program; None if it has to be done again.

        That is so where the checker had died of something earlier, and for the second chance.
        """
        order = _order(self._program, self._cpu_s, inputs=[])
        with run_child(self._worker.launcher, order) as candidate:
            outcome = self._carry_out(self._worker.take_checker(), candidate)
            if outcome is None:
                return None
            if outcome.end is CheckEnd.DIED:
                if self._has_second_chance and _was_killed(candidate.end(), self._cpu_s):
                    self._has_second_chance = False
                    return None
                outcome = self._explain_death(outcome, candidate.end())
            return outcome._replace(
                source_line=self._find_failed_line(outcome), output=candidate.take_output()
            )

    def _carry_out(self, checker: Checker, candidate: RunningChild) -> CheckOutcome | None:
        """Carry out the test; None if the checker had died of something earlier."""
        deadline = time.monotonic() + self._program.limits.total_s
        is_spent = True
        try:
            outcome, is_spent = _read(checker.check(self._request(), candidate, deadline))
        except DeadlineError:
            return CheckOutcome(end=CheckEnd.TIMED_OUT, load=_LOADED)
        except ChannelClosedError:
            if checker.is_reused:
                return None
            cause = f"its process {_describe_exit(checker.end())}"
            return CheckOutcome(end=CheckEnd.BROKEN, load=_LOADED, cause=cause)
        except DecodeError as error:
            report = ErrorReport(type_name="DecodeError", message=f"its process sent {error}")
            return CheckOutcome(end=CheckEnd.BROKEN, load=_LOADED, error=report)
        finally:
            if is_spent:
                checker.end()
            else:
                self._worker.keep_checker(checker)
        return outcome

    def _request(self) -> CheckRequest:
        return CheckRequest(
            source=self._check.source,
            setup=self._check.setup,
            function=self._program.function or _ANY_NAME,
            call_s=self._program.limits.case_s,
        )

    def _explain_death(self, outcome: CheckOutcome, end: Exit) -> CheckOutcome:
        if not _ran_out_of_cpu(end, self._cpu_s):
            return outcome._replace(cause=_describe_exit(end))
        load = outcome.load
        if load.end is LoadEnd.DIED:
            load = load._replace(end=LoadEnd.TIMED_OUT)
        return outcome._replace(end=CheckEnd.TIMED_OUT, load=load)

    def _find_failed_line(self, outcome: CheckOutcome) -> str:
        """Find the line of the test that failed; empty if none did."""
        if outcome.end is not CheckEnd.FAILED or outcome.error is None:
            return ""
        lines = self._check.source.splitlines()
        number = outcome.error.line or 0
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _read(message: Any) -> tuple[CheckOutcome, bool]:
    """Read how a check ended, and whether its checker is spent."""
    match message:
        case ("failed", str() as reason, bool()):
            raise SandboxError(f"a program cannot be locked in: {reason}")
        case (*_, bool() as is_spent):
            return message_to_check(message), is_spent
    raise DecodeError("a check of an unknown form")


def _ran_out_of_cpu(end: Exit, cpu_s: int) -> bool:
    """True if the kernel killed a child for its use of CPU time."""
    is_far_in_use = end.cpu_s >= cpu_s * _LEAST_SHARE
    return end.status == _KILLED and is_far_in_use and not end.had_too_many_tasks


def _was_killed(end: Exit, cpu_s: int) -> bool:
    """True if a child was killed, and not for its use of CPU time or its many tasks.

    That may have been the program itself, or something outside, such as a system without memory.
    """
    is_explained = end.had_too_many_tasks or _ran_out_of_cpu(end, cpu_s)
    return end.status == _KILLED and not is_explained


def _describe_exit(end: Exit) -> str:
    """Describe how a process ended, as the end of a sentence such as "exited with code 3"."""
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

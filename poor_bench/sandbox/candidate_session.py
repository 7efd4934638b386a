"""One child that holds a program, asked for one case after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poor_bench.sandbox.death import describe_exit, ran_out_of_cpu, was_killed
from poor_bench.sandbox.host.child_process import Launcher
from poor_bench.sandbox.host.running_child import RunningChild, running_child, wait_until_ready
from poor_bench.sandbox.host.scratch import scratch_folder
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.outcomes import CaseEnd, CaseOutcome, LoadEnd, LoadOutcome
from poor_bench.sandbox.program import Program
from poor_bench.sandbox.wire.channel import ChannelClosedError, DeadlineError
from poor_bench.sandbox.wire.decoding import DecodeError
from poor_bench.sandbox.wire.messages import CandidateOrder, message_to_case, message_to_load


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

"""Checkers: started when needed, and used again for as long as they are as good as new."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any

from poor_bench.errors import SandboxError
from poor_bench.sandbox.host.child_process import Launcher
from poor_bench.sandbox.host.relay import relay
from poor_bench.sandbox.host.running_child import RunningChild, running_child, wait_until_ready
from poor_bench.sandbox.host.scratch import scratch_folder
from poor_bench.sandbox.limits import Limits
from poor_bench.sandbox.outcomes import Exit
from poor_bench.sandbox.wire.messages import CheckerOrder, CheckRequest, request_to_message

_CPU_S = 3600


class Checker:
    """A child that carries out tests.

    Attributes:
        is_reused: Whether it has carried out a test before.
    """

    def __init__(self, launcher: Launcher) -> None:
        """Start a checker.

        Raises:
            SandboxError: If it cannot be started or locked in.
        """
        self.is_reused = False
        with ExitStack() as resources:
            scratch = resources.enter_context(scratch_folder(launcher.missing()))
            order = CheckerOrder(
                scratch=scratch, limits=Limits(), cpu_s=_CPU_S, is_linked=launcher.links_children
            )
            self._child = resources.enter_context(running_child(launcher, order))
            wait_until_ready(self._child)
            self._resources = resources.pop_all()

    def check(self, request: CheckRequest, candidate: RunningChild, deadline: float) -> Any:
        """Carry out a test and return the checker's message about it.

        Args:
            request: The test.
            candidate: Has its order.
            deadline: When all has to be over, in seconds of `time.monotonic`.

        Raises:
            ChannelClosedError: If the checker died.
            DeadlineError: If it did not come to an end in time.
            EncodeError: If the test is too large to be sent.
            SandboxError: If the candidate cannot be locked in.
        """
        channel = self._child.channel
        message = request_to_message(request)
        if candidate.process.hand_over(channel, message, deadline):
            return channel.receive(deadline)
        wait_until_ready(candidate)
        channel.send_trusted(message, deadline)
        return relay(channel, candidate.channel, request.call_s, deadline)

    def end(self) -> Exit:
        """Kill the checker; return how it ended.

        Raises:
            SandboxError: If nothing is known of its end.
        """
        with self._resources:
            return self._child.end()


class CheckerKeeper:
    """Keeps a checker between tests; used by one test at a time."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._waiting: Checker | None = None

    def take(self) -> Checker:
        """Return a checker that carries out no test.

        Raises:
            SandboxError: If a new one is needed and cannot be started or locked in.
        """
        checker, self._waiting = self._waiting, None
        return checker or Checker(self._launcher)

    def give_back(self, checker: Checker) -> None:
        """Keep a checker for the next test."""
        checker.is_reused = True
        self._waiting = checker

    def close(self) -> None:
        """End the checker, if one waits."""
        checker, self._waiting = self._waiting, None
        if checker is not None:
            with suppress(SandboxError):  # nobody asks how it ended
                checker.end()

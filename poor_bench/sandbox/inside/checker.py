"""A child that carries out tests on candidates, which live in other processes.

Tests come from the workspace and know the answers. What they get as their candidate is a stand-in
for a function elsewhere: it sends its arguments and gets plain data back, so nothing can be forged.

A checker goes on to the next test for as long as tests leave no trace in it that shows.
"""

from __future__ import annotations

import builtins
import functools
import socket
import sys
import time
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from poor_bench.sandbox.inside.attempt import Attempt, describe_error
from poor_bench.sandbox.inside.candidate import compile_source, run_code
from poor_bench.sandbox.inside.stand_in import CheckStoppedError, StandIn
from poor_bench.sandbox.outcomes import CheckEnd, LoadEnd
from poor_bench.sandbox.wire.channel import Channel, SocketConnection
from poor_bench.sandbox.wire.messages import CheckerOrder, CheckRequest, message_to_request

_MODULE = "test"
_SETUP_FILE, _TEST_FILE = "<setup>", "<test>"
_MAX_COMPILED = 256
"""Tests that a checker keeps compiled: every LLM and every trial gets the same ones."""
_MAX_CPU_SHARE = 0.5
"""Of its CPU time that a checker may have used and still take another test."""


def serve_checker(channel: Channel, order: CheckerOrder) -> None:
    """Carry out tests until there is nobody to ask for one, or this process is spent."""
    import random  # costs every fork, if the zygote has it

    untouched = _visible_state()
    is_spent = False
    while not is_spent:
        random.seed(0)
        if order.is_linked:
            message = _carry_out_linked(*channel.receive_trusted_with_socket())
        else:
            message = _carry_out(message_to_request(channel.receive_trusted()), channel)
        used_up = time.process_time() > order.cpu_s * _MAX_CPU_SHARE
        is_spent = used_up or _visible_state() != untouched
        channel.send((*message, is_spent))


def _visible_state() -> tuple[object, ...]:
    """Return what a test may have changed for the tests after it."""
    n_threads = len(sys._current_frames())
    return dict(vars(builtins)), sys.getrecursionlimit(), n_threads, sys.stdout, sys.stderr


def _carry_out_linked(message: Any, link: socket.socket) -> tuple[Any, ...]:
    """Carry out a test on the candidate at the other end of a socket; see `_carry_out`."""
    request = message_to_request(message)
    connection = SocketConnection(link)
    connection.limit_waits(request.call_s)
    try:
        return _carry_out(request, Channel(connection))
    finally:
        connection.close()  # what the test defined may keep it alive


def _carry_out(request: CheckRequest, candidate_channel: Channel) -> tuple[Any, ...]:
    """Carry out one test and return the message about it, but for its last word."""
    candidate = StandIn(candidate_channel, request.function)
    with Attempt() as checking:
        _check(request, candidate)
    if candidate.start_failure:
        return "failed", candidate.start_failure
    end = _end_of(checking.error, candidate)
    report = _report(checking.error, candidate)
    last_call = candidate.last_call() if end is not CheckEnd.PASSED else ""
    return "checked", end.value, report, candidate.load_message, last_call


def _check(request: CheckRequest, candidate: StandIn) -> None:
    check = _load_check(request, candidate)
    if candidate.wait_until_loaded() is LoadEnd.LOADED:
        check(candidate.call)
    else:
        raise CheckStoppedError(CheckEnd.NOT_LOADED)


def _load_check(request: CheckRequest, candidate: StandIn) -> Callable[[object], object]:
    """Return the test's function `check`."""
    module = ModuleType(_MODULE)
    _run(request.setup, _SETUP_FILE, module)
    module.__dict__[request.function] = candidate.call
    _run(request.source, _TEST_FILE, module)
    check: object = module.__dict__.get("check")
    if callable(check):
        return check
    raise CheckStoppedError(CheckEnd.BROKEN) from NameError("the test defines no function check")


def _run(source: str, file: str, module: ModuleType) -> None:
    code = _compiled(source, file)
    error = code if isinstance(code, BaseException) else run_code(code, module)
    if error is not None:
        raise CheckStoppedError(CheckEnd.BROKEN) from error


@functools.lru_cache(maxsize=_MAX_COMPILED)
def _compiled(source: str, file: str) -> CodeType | BaseException:
    return compile_source(source, file)


def _report(error: BaseException | None, candidate: StandIn) -> tuple[str, str, int | None] | None:
    if error is None:
        return None
    if isinstance(error, CheckStoppedError):
        cause = error.__cause__ if error.end is CheckEnd.BROKEN else None
        return describe_error(cause, _TEST_FILE) if cause is not None else None
    if error is candidate.raised and candidate.report is not None:
        return candidate.report.type_name, candidate.report.message, candidate.report.line
    return describe_error(error, _TEST_FILE)


def _end_of(error: BaseException | None, candidate: StandIn) -> CheckEnd:
    if candidate.stopped is not None:
        return candidate.stopped.end
    if error is None:
        return CheckEnd.PASSED
    if isinstance(error, CheckStoppedError):
        return error.end
    return CheckEnd.RAISED if error is candidate.raised else CheckEnd.FAILED

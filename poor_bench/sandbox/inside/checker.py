"""A child that carries out tests on candidates, which live in other processes.

Tests come from the workspace and know the answers. What they get as their candidate is a proxy for
a function elsewhere: it sends its arguments and gets plain data back, so nothing can be forged.

A checker goes on to the next test for as long as tests leave no trace in it that shows.
"""

from __future__ import annotations

import builtins
import functools
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from opcode import opmap
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from poor_bench.sandbox.channel import Channel, SocketConnection
from poor_bench.sandbox.inside.candidate import CatchAll, compile_source, describe_error, run_code
from poor_bench.sandbox.inside.proxy import CandidateProxy, CheckStoppedError
from poor_bench.sandbox.messages import CheckerOrder, CheckRequest
from poor_bench.sandbox.program import CheckEnd

_MODULE = "test"
_SETUP_FILE, _TEST_FILE = "<setup>", "<test>"
# tests that a checker keeps compiled: every LLM and every trial gets the same ones
_MAX_COMPILED = 256
# of its CPU time that a checker may have used and still take another test
_MAX_CPU_SHARE = 0.5
# byte code and names by which a test may change what the next one finds; what looks harmless and
# is not shows in `read_read_interpreter_state`
_CHANGES_ATTRIBUTES = {opmap["STORE_ATTR"], opmap["DELETE_ATTR"]}
_HARMLESS_MODULES = {
    *("abc", "bisect", "collections", "copy", "dataclasses", "decimal", "enum", "fractions"),
    *("functools", "heapq", "itertools", "math", "operator", "random", "re", "statistics"),
    *("string", "typing"),
}
_REACHES_FURTHER = {
    *("open", "exec", "eval", "compile", "breakpoint", "input", "globals", "locals", "vars"),
    *("getattr", "os", "_os", "sys", "_sys"),
}
_CHANGE_BY_NAME = {"setattr", "delattr", "patch"}


def serve_checker(channel: Channel, order: CheckerOrder) -> None:
    """Carry out tests until the other side is gone, or this process is spent."""
    import random  # costs every fork, if the zygote has it

    interpreter, system = read_interpreter_state(), read_system_state()
    is_spent = False
    while not is_spent:
        random.seed(0)
        if order.is_linked:
            received, link = channel.receive_trusted_with_socket()
            request = CheckRequest(*received[1])
            message = _carry_out_linked(request, link)
        else:
            request = CheckRequest(*channel.receive_trusted()[1])
            message = _carry_out(request, channel)
        used_up = time.process_time() > order.cpu_s * _MAX_CPU_SHARE
        parts = _compile(request.setup, _SETUP_FILE), _compile(request.source, _TEST_FILE)
        is_spent = (
            used_up
            or any(part.changes_attributes for part in parts)
            or read_interpreter_state() != interpreter
            or (any(part.reaches_system for part in parts) and read_system_state() != system)
        )
        channel.send((*message, is_spent))


def _carry_out_linked(request: CheckRequest, link: socket.socket) -> tuple[Any, ...]:
    """Carry out a test on the candidate at the other end of a socket; see `_carry_out`."""
    connection = SocketConnection(link)
    try:
        return _carry_out(request, Channel(connection))
    finally:
        connection.close()  # what the test defined may keep it alive


def _carry_out(request: CheckRequest, candidate_channel: Channel) -> tuple[Any, ...]:
    """Carry out one test and return the message about it, but for its last word."""
    candidate = CandidateProxy(candidate_channel, request.function, request.call_s)
    with CatchAll() as checking:
        _check(request, candidate)
    if candidate.start_failure:
        return "failed", candidate.start_failure
    end = _find_end(checking.error, candidate)
    report = _describe_end(checking.error, candidate)
    last_call = candidate.describe_last_call() if end is not CheckEnd.PASSED else ""
    return "checked", end.value, report, candidate.load_message, last_call


def _check(request: CheckRequest, candidate: CandidateProxy) -> None:
    check = _load_check(request, candidate)
    candidate.wait_until_loaded()
    check(candidate.call)


def _load_check(request: CheckRequest, candidate: CandidateProxy) -> Callable[[object], object]:
    """Load the test's function `check`."""
    module = ModuleType(_MODULE)
    _run(request.setup, _SETUP_FILE, module, candidate)
    module.__dict__[request.function] = candidate.call
    _run(request.source, _TEST_FILE, module, candidate)
    check: object = module.__dict__.get("check")
    if callable(check):
        return check
    raise CheckStoppedError(CheckEnd.BROKEN) from NameError("the test defines no function check")


def _run(source: str, file: str, module: ModuleType, candidate: CandidateProxy) -> None:
    code = _compile(source, file).code
    error = code if isinstance(code, BaseException) else run_code(code, module)
    if error is None:
        return
    if candidate.was_called or candidate.stopped is not None:
        raise error
    raise CheckStoppedError(CheckEnd.BROKEN) from error


class _Compiled(NamedTuple):
    code: CodeType | BaseException
    changes_attributes: bool = False
    reaches_system: bool = False


@functools.lru_cache(maxsize=_MAX_COMPILED)
def _compile(source: str, file: str) -> _Compiled:
    code = compile_source(source, file)
    if not isinstance(code, CodeType):
        return _Compiled(code)
    return _Compiled(code, changes_attributes(code), reaches_system(code))


def _describe_end(
    error: BaseException | None, candidate: CandidateProxy
) -> tuple[str, str, int | None] | None:
    if error is None:
        return None
    if isinstance(error, CheckStoppedError):
        cause = error.__cause__ if error.end in {CheckEnd.BROKEN, CheckEnd.FAILED} else None
        return describe_error(cause, _TEST_FILE) if cause is not None else None
    if error is candidate.raised and candidate.report is not None:
        return candidate.report.type_name, candidate.report.message, candidate.report.line
    return describe_error(error, _TEST_FILE)


def _find_end(error: BaseException | None, candidate: CandidateProxy) -> CheckEnd:
    if candidate.stopped is not None:
        return candidate.stopped.end
    if error is None:
        return CheckEnd.PASSED
    if isinstance(error, CheckStoppedError):
        return error.end
    return CheckEnd.RAISED if error is candidate.raised else CheckEnd.FAILED


def read_interpreter_state() -> tuple[object, ...]:
    """Read what the next test would see of a change of the interpreter itself."""
    return (
        dict(vars(builtins)),
        sys.getrecursionlimit(),
        sys.get_int_max_str_digits(),
        len(sys._current_frames()),
        sys.stdout,
        sys.stderr,
        list(sys.path),
    )


def read_system_state() -> tuple[object, ...]:
    """Read what the next test would see of a change made through the system.

    Reading it takes as long as ten calls of a candidate; see `reaches_system`.
    """
    return dict(os.environ), _read_folder(), _read_alarm()


def reaches_system(code: CodeType) -> bool:
    """True if code may have to do with more than numbers, texts and their like."""
    modules = {name.partition(".")[0] for name in _list_imports(code)}
    return (
        not modules <= _HARMLESS_MODULES
        or not _REACHES_FURTHER.isdisjoint(code.co_names)
        or any(name.startswith("__") for name in code.co_names)
        or any(map(reaches_system, _list_nested(code)))
    )


def changes_attributes(code: CodeType) -> bool:
    """True if code may change attributes, as those of modules, which others use as well."""
    return (
        not _CHANGES_ATTRIBUTES.isdisjoint(code.co_code[::2])
        or not _CHANGE_BY_NAME.isdisjoint(code.co_names)
        or any(map(changes_attributes, _list_nested(code)))
    )


def _list_imports(code: CodeType) -> Iterator[str]:
    from dis import get_instructions  # costs every fork, if the zygote has it

    for instruction in get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            yield instruction.argval


def _list_nested(code: CodeType) -> Iterator[CodeType]:
    return (part for part in code.co_consts if isinstance(part, CodeType))


def _read_folder() -> tuple[str, list[str]] | None:
    try:
        with os.scandir() as entries:
            return os.getcwd(), [entry.name for entry in entries]
    except OSError:
        return None  # it went to where it may not look around


def _read_alarm() -> object:
    if not hasattr(signal, "SIGALRM"):
        return None
    return signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)

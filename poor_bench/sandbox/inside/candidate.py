"""A child that holds a program and calls one of its functions.

Everything here runs beside hostile code, which can read and change all of it. That is why the
worst it can achieve is to send another value, or none: what is right is not known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

from poor_bench.sandbox.inside.attempt import Attempt, describe_error
from poor_bench.sandbox.inside.passing import Arguments, arguments_of
from poor_bench.sandbox.inside.streams import Output
from poor_bench.sandbox.wire.channel import Channel
from poor_bench.sandbox.wire.encoding import encode_message
from poor_bench.sandbox.wire.messages import CandidateOrder
from poor_bench.sandbox.wire.plain import name_of_type

_MODULE = "solution"
_SETUP_FILE, _FILE = "<setup>", "<solution>"
_MAX_FUNCTIONS = 20


def serve_candidate(channel: Channel, order: CandidateOrder, output: Output) -> None:
    """Load a program, then answer calls until nobody is there to ask."""
    loaded = _load(order)
    calls: Sequence[Arguments] = ()
    if callable(loaded) and order.inputs:
        calls = arguments_of(loaded, order.inputs)
    output.flush()
    channel.send(("loaded",) if callable(loaded) else loaded)
    while callable(loaded):
        arguments = _requested(channel.receive_trusted(), calls)
        answer = _answer(loaded, arguments)
        output.flush()
        channel.send_encoded(answer)


def run_code(code: CodeType, module: ModuleType) -> BaseException | None:
    """Run compiled source as the body of a module; return what it raised, if it did."""
    sys.modules[module.__name__] = module
    with Attempt() as running:
        FunctionType(code, module.__dict__)()
    return running.error


def compile_source(source: str, file: str) -> CodeType | BaseException:
    """Return source as code, or what is wrong with it."""
    with Attempt() as compiling:
        code: CodeType = compile(source, file, "exec", dont_inherit=True)
    return compiling.error or code


def _load(order: CandidateOrder) -> Callable[..., Any] | tuple[Any, ...]:
    """Return the function, or the message that says why there is none."""
    module = ModuleType(_MODULE)
    sources = [(order.source, _FILE)]
    if order.setup:
        sources.insert(0, (order.setup, _SETUP_FILE))
    for source, file in sources:
        code = compile_source(source, file)
        if isinstance(code, BaseException):
            return "not_loaded", "syntax", describe_error(code, file), []
        error = run_code(code, module)
        if error is not None:
            return "not_loaded", "raised", describe_error(error, file), []
    name = order.function or next(reversed(_functions_of(module)), "")
    function: object = module.__dict__.get(name)
    if callable(function):
        return function
    return "not_loaded", "missing", None, _functions_of(module)[:_MAX_FUNCTIONS]


def _functions_of(module: ModuleType) -> list[str]:
    """Return the names of public functions that the program itself defines, in order."""
    return [
        name
        for name, value in module.__dict__.items()
        if type(value) is FunctionType and value.__module__ == _MODULE and name[:1] != "_"
    ]


def _requested(message: Any, calls: Sequence[Arguments]) -> Arguments:
    match message:
        case ("case", int() as index):
            return calls[index]
        case ("call", tuple() as args, dict() as kwargs):
            return args, kwargs
    raise ValueError("an unknown request")


def _answer(function: Callable[..., Any], arguments: Arguments) -> bytes:
    positional, named = arguments
    with Attempt() as calling:
        value = function(*positional, **named)
    if calling.error is not None:
        return encode_message("raised", describe_error(calling.error, _FILE))
    with Attempt() as encoding:
        return encode_message("returned", value)
    return encode_message("unsendable", str(encoding.error) or name_of_type(encoding.error))

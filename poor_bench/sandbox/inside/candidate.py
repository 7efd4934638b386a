"""A child that holds a program and calls one of its functions.

Everything here runs beside hostile code, which can read and change all of it. That is why the
worst it can achieve is to send another value, or none: what is right is not known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from poor_bench.sandbox.channel import Channel
from poor_bench.sandbox.encoding import encode_message
from poor_bench.sandbox.inside.descriptors import ChildOutput
from poor_bench.sandbox.messages import CandidateOrder, is_line
from poor_bench.sandbox.plain import read_type_name

if TYPE_CHECKING:
    import inspect

_MODULE = "solution"
_SETUP_FILE, _FILE = "<setup>", "<solution>"
_MAX_FUNCTIONS = 20
_MAX_MESSAGE = 2000
Arguments = tuple[Sequence[Any], Mapping[str, Any]]
# flags of code with `*args` and `**kwargs`; see `inspect.CO_VARARGS`
_TAKES_ANY_NUMBER, _TAKES_ANY_NAME = 0x04, 0x08


def serve_candidate(channel: Channel, order: CandidateOrder, output: ChildOutput) -> None:
    """Load a program, then answer calls until the other side is gone."""
    loaded = _load(order)
    calls: Sequence[Arguments] = ()
    if callable(loaded) and order.inputs:
        calls = choose_arguments(loaded, order.inputs)
    output.flush()
    channel.send(("loaded",) if callable(loaded) else loaded)
    while callable(loaded):
        arguments = _read_request(channel.receive_trusted(), calls)
        answer = _answer(loaded, arguments)
        output.flush()
        channel.send_encoded(answer)


def _load(order: CandidateOrder) -> Callable[..., Any] | tuple[Any, ...]:
    """Load the function, or return the message that says why it is missing."""
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
    name = order.function or next(reversed(_list_functions(module)), "")
    function: object = module.__dict__.get(name)
    if callable(function):
        return function
    return "not_loaded", "missing", None, _list_functions(module)[:_MAX_FUNCTIONS]


def _list_functions(module: ModuleType) -> list[str]:
    """List the names of public functions that the program itself defines, in order."""
    return [
        name
        for name, value in module.__dict__.items()
        if type(value) is FunctionType and value.__module__ == _MODULE and name[:1] != "_"
    ]


def _read_request(message: Any, calls: Sequence[Arguments]) -> Arguments:
    match message:
        case ("case", int() as index):
            return calls[index]
        case ("call", tuple() as args, dict() as kwargs):
            return args, kwargs
    raise ValueError("an unknown request")


def _answer(function: Callable[..., Any], arguments: Arguments) -> bytes:
    positional, named = arguments
    with CatchAll() as calling:
        value = function(*positional, **named)
    if calling.error is not None:
        return encode_message("raised", describe_error(calling.error, _FILE))
    with CatchAll() as encoding:
        return encode_message("returned", value)
    return encode_message("unsendable", str(encoding.error) or read_type_name(encoding.error))


def run_code(code: CodeType, module: ModuleType) -> BaseException | None:
    """Run compiled source as the body of a module; return what it raised, if it did."""
    sys.modules[module.__name__] = module
    with CatchAll() as running:
        FunctionType(code, module.__dict__)()
    return running.error


def compile_source(source: str, file: str) -> CodeType | BaseException:
    """Compile source, or return what is wrong with it."""
    with CatchAll() as compiling:
        code: CodeType = compile(source, file, "exec", dont_inherit=True)
    return compiling.error or code


class CatchAll:
    """A context that survives its body, whatever that raises, and keeps the exception.

    Hostile code raises SystemExit and KeyboardInterrupt as well.

    Attributes:
        error: What was raised; None if nothing was.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> bool:
        self.error = error
        return True


def describe_error(error: BaseException, file: str) -> tuple[str, str, int | None]:
    """Describe an exception by type, message and line, as messages carry it.

    Args:
        error: Its own methods may be hostile.
        file: The line is that of the innermost frame in this file.
    """
    message, line = "", None
    with CatchAll():
        line = _find_line(error.__traceback__, file)
        message = str(error)[:_MAX_MESSAGE]
        if isinstance(error, SyntaxError) and error.filename == file:
            message, line = str(error.msg)[:_MAX_MESSAGE], error.lineno
    return read_type_name(error), message, line if is_line(line) else None


def _find_line(traceback: TracebackType | None, file: str) -> int | None:
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def choose_arguments(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Arguments]:
    """Choose the arguments for each input.

    A list is passed as positional arguments, a dict as keyword arguments, anything else as one
    argument. A list or dict that does not fit the signature that way, but does as one argument,
    is passed as one. A function gets all its inputs in the same way where that is possible: if
    only some of them fit as arguments and all of them as one argument, all are passed as one.
    """
    spread = [_spread_out(value) for value in inputs]
    whole: list[Arguments] = [((value,), {}) for value in inputs]
    if spread == whole:
        return whole
    fits = _find_fit(function)
    if fits is None or all(map(fits, spread)):
        return spread
    if all(map(fits, whole)):
        return whole
    return [
        alone if fits(alone) and not fits(apart) else apart
        for apart, alone in zip(spread, whole, strict=True)
    ]


def _spread_out(value: Any) -> Arguments:
    if isinstance(value, list):
        return value, {}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return (), value
    return (value,), {}


def _find_fit(function: Callable[..., Any]) -> Callable[[Arguments], bool] | None:
    """Find a test of whether arguments fit; None where the function does not tell."""
    if type(function) is FunctionType and not function.__dict__:
        return partial(_fits_function, function)
    import inspect  # costs every fork, if the zygote has it

    with CatchAll():
        return partial(_fits_signature, inspect.signature(function))
    return None


def _fits_function(function: FunctionType, arguments: Arguments) -> bool:
    """True if a plain function takes arguments, as `inspect` would find, but at once."""
    code, (positional, named) = function.__code__, arguments
    n_positional = code.co_argcount
    in_order = code.co_varnames[:n_positional]
    by_name = code.co_varnames[code.co_posonlyargcount : n_positional + code.co_kwonlyargcount]
    if len(positional) > n_positional and not code.co_flags & _TAKES_ANY_NUMBER:
        return False
    if not named.keys() <= set(by_name) and not code.co_flags & _TAKES_ANY_NAME:
        return False
    filled = set(in_order[: len(positional)])
    given = named.keys() & set(by_name)
    optional = {*in_order[n_positional - len(function.__defaults__ or ()) :]}
    optional.update(function.__kwdefaults__ or ())
    return not filled & given and {*in_order, *by_name} <= filled | given | optional


def _fits_signature(signature: inspect.Signature, arguments: Arguments) -> bool:
    positional, named = arguments
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True

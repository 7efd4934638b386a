"""How the input of a case becomes the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from poor_bench.sandbox.inside.attempt import Attempt

if TYPE_CHECKING:
    import inspect

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
_TAKES_ANY_NUMBER, _TAKES_ANY_NAME = 0x04, 0x08
"""Flags of code with `*args` and `**kwargs`; see `inspect.CO_VARARGS`."""


def arguments_of(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Arguments]:
    """Return the arguments for each input.

    A list is passed as positional arguments, a dict as keyword arguments, anything else as one
    argument. A list or dict that does not fit the signature that way, but does as one argument,
    is passed as one. A function gets all its inputs in the same way where that is possible: if
    only some of them fit as arguments and all of them as one argument, all are passed as one.
    """
    spread = [_spread(value) for value in inputs]
    whole: list[Arguments] = [((value,), {}) for value in inputs]
    if spread == whole:
        return whole
    fits = _fitting(function)
    if fits is None or all(map(fits, spread)):
        return spread
    if all(map(fits, whole)):
        return whole
    return [
        alone if fits(alone) and not fits(apart) else apart
        for apart, alone in zip(spread, whole, strict=True)
    ]


def _spread(value: Any) -> Arguments:
    if isinstance(value, list):
        return value, {}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return (), value
    return (value,), {}


def _fitting(function: Callable[..., Any]) -> Callable[[Arguments], bool] | None:
    """Return what says whether arguments fit; None where the function does not tell."""
    if type(function) is FunctionType and not function.__dict__:
        return partial(_fits_function, function)
    import inspect  # costs every fork, if the zygote has it

    with Attempt():
        return partial(_fits_signature, inspect.signature(function))
    return None


def _fits_function(function: FunctionType, arguments: Arguments) -> bool:
    """Return whether a plain function takes arguments, as `inspect` would, but at once."""
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

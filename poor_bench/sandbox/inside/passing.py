"""How the input of a case becomes the arguments of a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poor_bench.sandbox.inside.attempt import Attempt

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


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
    signature = _signature(function)
    if signature is None or all(_fits(signature, arguments) for arguments in spread):
        return spread
    if all(_fits(signature, arguments) for arguments in whole):
        return whole
    return [
        alone if _fits(signature, alone) and not _fits(signature, apart) else apart
        for apart, alone in zip(spread, whole, strict=True)
    ]


def _spread(value: Any) -> Arguments:
    if isinstance(value, list):
        return value, {}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return (), value
    return (value,), {}


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    with Attempt():
        return inspect.signature(function)
    return None


def _fits(signature: inspect.Signature, arguments: Arguments) -> bool:
    positional, named = arguments
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True

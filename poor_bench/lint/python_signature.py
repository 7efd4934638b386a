"""Whether a Python function can be called with given inputs, known without running it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any


def signature_of(arguments: ast.arguments) -> Signature:
    """Return the signature that the parsed arguments of a function describe."""
    positional = [*arguments.posonlyargs, *arguments.args]
    n_required = len(positional) - len(arguments.defaults)
    parameters = [
        _parameter(
            argument,
            Parameter.POSITIONAL_ONLY
            if index < len(arguments.posonlyargs)
            else Parameter.POSITIONAL_OR_KEYWORD,
            is_optional=index >= n_required,
        )
        for index, argument in enumerate(positional)
    ]
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, Parameter.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        kind = Parameter.KEYWORD_ONLY
        parameters.append(_parameter(argument, kind, is_optional=default is not None))
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def _parameter(argument: ast.arg, kind: Any, *, is_optional: bool = False) -> Parameter:
    return Parameter(argument.arg, kind, default=None if is_optional else Parameter.empty)


def takes(signature: Signature, value: Any) -> bool:
    """Tell whether a function can be called with an input, as the evaluator would do it."""
    if isinstance(value, Mapping):
        return can_bind(signature, **value)
    return can_bind(signature, *(value if isinstance(value, list) else [value]))


def can_bind(signature: Signature, /, *positional: Any, **named: Any) -> bool:
    """Tell whether a function can be called with these arguments."""
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True

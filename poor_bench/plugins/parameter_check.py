"""Check an evaluator's parameters against the model it declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.config.nearest_name import name_hint

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


class ParameterProblem(NamedTuple):
    """One thing that is wrong with an evaluator's parameters."""

    place: str
    """Where in the parameters, such as `evaluators[0].name`; empty for all of them."""
    message: str
    hint: str
    """The way out; may be empty."""


def check_against_model(
    parameters: Mapping[str, Any], model: type[BaseModel]
) -> list[ParameterProblem]:
    """Return everything that `model` has against `parameters`; nothing if they are right."""
    from pydantic import ValidationError

    try:
        model.model_validate(parameters)
    except ValidationError as error:
        return [_problem(details, model) for details in error.errors(include_url=False)]
    return []


def _problem(details: ErrorDetails, model: type[BaseModel]) -> ParameterProblem:
    place = place_of(details["loc"])
    if details["type"] == "extra_forbidden":
        hint = name_hint(str(details["loc"][0]), _names(model)) if len(details["loc"]) == 1 else ""
        return ParameterProblem(place, "unknown parameter", hint)
    message = details["msg"].removeprefix("Value error, ")
    return ParameterProblem(place, message[:1].lower() + message[1:], "")


def place_of(location: Sequence[int | str]) -> str:
    """Return a pydantic location as we write places.

    Example:
        >>> place_of(("evaluators", 0, "name"))
        'evaluators[0].name'
    """
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in location)
    return "".join(parts).removeprefix(".")


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]

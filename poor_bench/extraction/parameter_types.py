"""Types for the parameters of evaluators."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from poor_bench.extraction.number import number_from_json


def _to_decimal(value: Any) -> Decimal:
    number = number_from_json(value)
    if number is None:
        raise ValueError(f"{value!r:.60} is not a number")
    return number.value


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ExactNumber = Annotated[Decimal, BeforeValidator(_to_decimal)]
"""A number, or a text that is one in any notation that answers may use."""

OneOrMoreTexts = Annotated[
    list[Annotated[str, Field(min_length=1)]], Field(min_length=1), BeforeValidator(_to_list)
]
"""A text, or several; none of them empty."""

"""Which evaluator scores a test, and with what parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EvaluatorSpec:
    """Name and parameters of an evaluator, as they stand in a file."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def merge_specs(of_class: EvaluatorSpec | None, of_test: EvaluatorSpec | None) -> EvaluatorSpec:
    """Return the evaluator that is in force for a test.

    A test's parameters override its class's, key by key. Where a test names another evaluator
    than its class, the class's parameters do not apply.

    Raises:
        ValueError: If neither names an evaluator.
    """
    if of_test is None:
        if of_class is None:
            raise ValueError("neither the test nor its class names an evaluator")
        return of_class
    if of_class is None or of_class.name != of_test.name:
        return of_test
    return EvaluatorSpec(of_test.name, {**of_class.parameters, **of_test.parameters})

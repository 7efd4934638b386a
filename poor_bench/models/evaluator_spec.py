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

"""What an evaluator may ask for beside response and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.scoring.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """Handed to an evaluator whose `evaluate` takes a keyword argument `context`."""

    evaluate_by_name: Callable[[str, str, Mapping[str, Any]], Verdict]
    """Score a response with another evaluator: its name, the response, its parameters."""

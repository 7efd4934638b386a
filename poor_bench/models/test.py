"""One test: a text or texts for the template of its class, a level and an evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.evaluator_spec import EvaluatorSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One test; exactly one of `text` and `texts` is set."""

    test_id: str
    class_id: str
    level: int
    """Declared difficulty, 1 (easiest) upwards."""
    text: str | None = None
    texts: tuple[str, ...] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further placeholders of the template, by name."""
    evaluator: EvaluatorSpec | None = None
    """Overrides the class's; parameters are merged, the test's win."""
    reference_response: str | None = None
    """A response that must score 1.0, for checking the test itself."""
    tags: tuple[str, ...] = ()

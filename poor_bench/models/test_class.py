"""A family of tests with one prompt template and one default evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.evaluator_spec import EvaluatorSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TestClass:
    """A family of tests.

    `templates` holds at least `default`; other entries are kept for the user and not rendered.
    """

    id: str
    description: str = ""
    system_prompt: str = ""
    templates: Mapping[str, str]
    overrides: Mapping[str, str] = field(default_factory=dict)
    """LLM id to the template that this LLM gets instead of the default."""
    evaluator: EvaluatorSpec | None = None
    response_schema: Mapping[str, Any] | None = None
    """JSON schema of the answers, for LLMs whose `response_format` is `class`."""
    tags: tuple[str, ...] = ()

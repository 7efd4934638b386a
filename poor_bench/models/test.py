"""A test, its class, and the evaluator that scores it."""

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
    """Merge the evaluators of a class and a test into the one in force.

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


NO_FIELDS: Mapping[str, Any] = {}
"""Shared by all tests that have none."""


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
    enabled: bool = True
    """False excludes the test from runs and from every figure; its results are kept."""
    group: str | None = None
    """Template, passage or original that this test shares with others of the same group, in any
    class; their scores are not independent. None where it shares none."""
    reported: str = ""
    """Why a reader thinks that the test is wrong; empty if nobody does."""

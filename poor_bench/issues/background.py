"""Optional context of detectors beyond the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs

_OF_CODE = ("function_name", "test_cases", "check_source")


class Wanted(StrEnum):
    """Kind of answer that a test requests."""

    OBJECT = "object"
    LIST = "list"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """Known requirements of a test."""

    class_id: str = ""
    wanted: Wanted | None = None
    n_items: int | None = None
    """Length of the requested list."""
    function_name: str = ""
    """Function that the code must define."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Context beyond the results; a detector without its facts finds nothing."""

    facts: Mapping[str, TestFacts] = field(default_factory=dict)
    """By test id."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """Sampling temperature by LLM id."""
    previous_scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Mean score of the run to compare with, by LLM and test id."""
    suspicious_tests: Mapping[str, str] = field(default_factory=dict)
    """Test id to what item analysis says against the test."""
    pass_score: float = 1.0
    """Lowest score that passes a trial."""


def background_of(
    tests: Mapping[str, Test], test_classes: Mapping[str, TestClass], llms: Mapping[str, LLM]
) -> Background:
    """Collect the context of a workspace; add more with `dataclasses.replace`.

    Args:
        tests: By test id; those whose class or evaluator is unknown are left out.
        test_classes: By class id.
        llms: By LLM id.
    """
    facts = {}
    for test_id, test in tests.items():
        test_class = test_classes.get(test.class_id)
        if test_class is not None and (test.evaluator or test_class.evaluator):
            spec = merge_specs(test_class.evaluator, test.evaluator)
            facts[test_id] = facts_of(test.class_id, spec)
    temperatures = {
        llm_id: float(llm.parameters["temperature"])
        for llm_id, llm in llms.items()
        if isinstance(llm.parameters.get("temperature"), int | float)
    }
    return Background(facts=facts, temperatures=temperatures)


def facts_of(class_id: str, evaluator: EvaluatorSpec) -> TestFacts:
    """Derive the requirements of a test from its evaluator.

    Args:
        class_id: The test's class.
        evaluator: Name and merged parameters, see `merge_specs`.

    Example:
        >>> spec = EvaluatorSpec("sentiment_evaluator", {"expected_sentiments": ["good", "bad"]})
        >>> facts_of("mood", spec).n_items
        2
    """
    parameters = evaluator.parameters
    function_name = parameters.get("function_name")
    expected = next(
        (
            value
            for key, value in parameters.items()
            if key.startswith("expected") and isinstance(value, list)
        ),
        None,
    )
    return TestFacts(
        class_id=class_id,
        wanted=_wanted(parameters, is_list=expected is not None),
        n_items=None if expected is None else len(expected),
        function_name=function_name if isinstance(function_name, str) else "",
    )


def _wanted(parameters: Mapping[str, Any], *, is_list: bool) -> Wanted | None:
    if any(parameters.get(key) is not None for key in _OF_CODE):
        return Wanted.CODE
    schema = parameters.get("schema")
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if is_list or kind == "array":
        return Wanted.LIST
    is_object = kind == "object" or isinstance(parameters.get("expected"), Mapping)
    return Wanted.OBJECT if is_object or parameters.get("expected_format") == "json" else None

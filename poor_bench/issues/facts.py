"""Facts about the tests and models of a workspace that detectors need."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from poor_bench.issues.detector import IssueContext, TestFacts
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.scoring.older_results import guess_format
from poor_bench.scoring.verdict import AnswerFormat

Wants = Callable[[EvaluatorSpec], AnswerFormat | None]
"""Asks an evaluator which answer format it wants; None where it is silent."""


def build_context(
    tests: Mapping[str, Test],
    test_classes: Mapping[str, TestClass],
    llms: Mapping[str, LLM],
    wants: Wants = lambda _: None,
) -> IssueContext:
    """Collect the context of a workspace; add more with `dataclasses.replace`.

    Args:
        tests: By test id; those whose class or evaluator is unknown are left out.
        test_classes: By class id.
        llms: By LLM id.
        wants: Asks evaluators for the format that they want.
    """
    facts = {}
    for test_id, test in tests.items():
        test_class = test_classes.get(test.class_id)
        if test_class is not None and (test.evaluator or test_class.evaluator):
            spec = merge_specs(test_class.evaluator, test.evaluator)
            facts[test_id] = describe_test(test.class_id, spec, wants)
    temperatures = {
        llm_id: float(llm.parameters["temperature"])
        for llm_id, llm in llms.items()
        if isinstance(llm.parameters.get("temperature"), int | float)
    }
    return IssueContext(facts=facts, temperatures=temperatures)


def describe_test(
    class_id: str, evaluator: EvaluatorSpec, wants: Wants = lambda _: None
) -> TestFacts:
    """Derive the requirements of a test from its evaluator.

    Args:
        class_id: The test's class.
        evaluator: Name and merged parameters, see `merge_specs`.
        wants: Asks the evaluator for the format that it wants.

    Example:
        >>> spec = EvaluatorSpec("sentiment_evaluator", {"expected_sentiments": ["good", "bad"]})
        >>> describe_test("mood", spec).n_items
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
        wanted=wants(evaluator) or guess_format(parameters),
        n_items=None if expected is None else len(expected),
        function_name=function_name if isinstance(function_name, str) else "",
    )

"""Whether a new test does what a test must: pass its reference, fail an empty response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.errors import PoorBenchError
from poor_bench.lint.evaluator_facts import EvaluatorFacts
from poor_bench.models.evaluator_spec import EvaluatorSpec, merge_specs


def fault_of(
    class_entry: Mapping[str, Any], test_entry: Mapping[str, Any], facts: EvaluatorFacts
) -> str:
    """Return what is wrong with a test, in words; empty if nothing is.

    Args:
        class_entry: The test's class, as it shall stand in its file; names the evaluator.
        test_entry: The test, as it shall stand in its file.
        facts: Scores responses.
    """
    spec = spec_of(class_entry, test_entry)
    reference = test_entry.get("reference_response")
    try:
        if facts.is_judged(spec):
            return ""
        if reference is not None and (score := facts.score(spec, reference)) != 1.0:
            return f"its reference response scores {score:.3g}, not 1.0"
        blank = facts.score(spec, "")
    except PoorBenchError as error:
        return f"it cannot be scored: {error}"
    return f"an empty response scores {blank:.3g}, not 0" if blank else ""


def spec_of(class_entry: Mapping[str, Any], test_entry: Mapping[str, Any]) -> EvaluatorSpec:
    """Return the evaluator that will be in force for a new test; see `fault_of`."""
    of_class = class_entry["evaluation_module"]
    own = test_entry.get("evaluation_module", {})
    return merge_specs(
        EvaluatorSpec(of_class["name"], of_class.get("parameters", {})),
        EvaluatorSpec(own.get("name", of_class["name"]), own.get("parameters", {})),
    )

"""What holds for every built-in evaluator."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poor_bench.plugins import find_project_evaluators, load_evaluators
from poor_bench.scoring.verdict import AnswerFormat
from tests.extraction.growth import time_of
from tests.extraction.strategies import hostile_text

REGISTRY = load_evaluators([find_project_evaluators()])
PARAMETERS = {
    "math_evaluator": {"expected_answer": "18"},
    "sentiment_evaluator": {"expected_sentiments": ["positive", "negative"]},
    "diff_evaluator": {"expected_diff": "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n"},
    "exact_match": {"expected": "yes"},
    "contains": {"all": ["a", "b"], "none": ["c"]},
    "regex_match": {"pattern": r"\d+", "expected": "18"},
    "number_match": {"expected": 18, "relative_tolerance": 0.1},
    "choice": {"expected": "B", "choices": ["one", "two", "three"]},
    "json_schema": {"schema": {"type": "object"}, "expected": {"a": [1, "x"]}},
    "list_match": {"expected": ["a", 2]},
    "text_similarity": {"expected": "a few words", "metric": "chrf"},
    "math_equivalence": {"expected": "1/2"},
    "all_of": {"evaluators": [{"name": "choice", "parameters": {"expected": "A"}}]},
    "any_of": {"evaluators": [{"name": "exact_match", "parameters": {"expected": "a"}}]},
    "weighted": {"evaluators": [{"name": "number_match", "parameters": {"expected": 1}}]},
}
SANDBOXED = {"python_evaluator", "math_equivalence"}
PURE = [name for name in PARAMETERS if name not in SANDBOXED]


def test_every_evaluator_loads_and_describes_itself():
    report = REGISTRY.load_all()
    assert report.failures == {}
    names = {evaluator.name for evaluator in report.evaluators}
    assert names >= {*PARAMETERS}
    for evaluator in report.evaluators:
        assert 20 < len(evaluator.description) < 110, evaluator.name
        schema = evaluator.parameters_schema()
        assert schema["additionalProperties"] is False
        assert all(field.get("description") for field in schema["properties"].values())


@pytest.mark.parametrize("name", PARAMETERS)
def test_example_parameters_are_right_and_unknown_ones_are_not(name):
    evaluator = REGISTRY.get(name)
    assert evaluator.check_parameters(PARAMETERS[name]) == []
    assert evaluator.check_parameters(PARAMETERS[name] | {"no_such": 1})


@pytest.mark.parametrize("name", PARAMETERS)
def test_reference_scores_one_without_breaking_the_format_and_blank_scores_zero(name):
    evaluator = REGISTRY.get(name)
    reference = evaluator.reference(PARAMETERS[name])
    assert evaluator.wants(PARAMETERS[name]) in {None, *AnswerFormat}
    if reference is not None:
        verdict = evaluator.evaluate(reference, PARAMETERS[name])
        assert (verdict.score, verdict.strict_score) == (1.0, None)
    for blank in ("", " \n", "<think>18</think>", "<think>1/2"):
        assert evaluator.evaluate(blank, PARAMETERS[name]).score == 0.0


@pytest.mark.parametrize("name", PURE)
@settings(max_examples=60)
@given(response=hostile_text | st.text().map("<think>{}</think>".format))
def test_any_response_gets_a_score_and_the_same_one_again(name, response):
    evaluator = REGISTRY.get(name)
    verdict = evaluator.evaluate(response, PARAMETERS[name])
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.strict_score is None or 0.0 <= verdict.strict_score <= verdict.score
    assert evaluator.evaluate(response, PARAMETERS[name]) == verdict


@pytest.mark.slow(reason="reads megabytes")
@pytest.mark.parametrize("piece", ["{", "- A is 18, <b>\n"])
@pytest.mark.parametrize("name", PURE)
def test_megabyte_of_anything_is_scored_within_seconds(name, piece):
    evaluator = REGISTRY.get(name)
    megabyte = piece * (1_000_000 // len(piece))
    assert time_of(lambda text: evaluator.evaluate(text, PARAMETERS[name]), megabyte) < 30


@pytest.mark.slow(reason="reads megabytes")
@pytest.mark.parametrize("name", PURE)
def test_verdict_on_a_megabyte_is_small(name):
    verdict = REGISTRY.get(name).evaluate('["' + "x" * 1_000_000 + '", "y"]', PARAMETERS[name])
    fields = (verdict.details, verdict.extracted, verdict.expected, verdict.got)
    assert sum(map(len, fields)) < 10_000


@pytest.mark.slow(reason="starts Python for each case")
def test_importing_evaluators_imports_nothing_heavy():
    code = (
        "import sys; from poor_bench.plugins import load_evaluators, find_project_evaluators\n"
        "assert load_evaluators([find_project_evaluators()]).load_all().failures == {}\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'sympy', 'dash', 'jsonschema', 'json_repair',"
        " 'rapidfuzz', 'regex', 'requests', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout.strip() == "[]"

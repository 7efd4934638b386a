from __future__ import annotations

import pytest
from hypothesis import given
from pydantic import ValidationError

from evaluators.diff_evaluator import evaluate, reference, wants
from poor_bench.scoring.verdict import AnswerFormat
from tests.extraction.strategies import hostile_text

DIFF = "--- f.txt\n+++ f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
BY_DIFF = {"expected_diff": DIFF}
BY_RESULT = {"original": "one\ntwo\nthree\n", "expected_result": "one\nTWO\nthree\n"}
BOTH = [pytest.param(BY_DIFF, id="by diff"), pytest.param(BY_RESULT, id="by result")]

EQUIVALENT = {
    "the same": DIFF,
    "a/ b/ and times": "--- a/f.txt\t2024-01-01\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n"
    " three",
    "git header": "diff --git a/f.txt b/f.txt\nindex 1..2 100644\n" + DIFF,
    "less context": "--- f.txt\n+++ f.txt\n@@ -2 +2 @@\n-two\n+TWO\n",
    "wrong counts": DIFF.replace("-1,3 +1,3", "-1,7 +4,9"),
    "whole file": "--- f.txt\n+++ f.txt\n@@ -1,3 +1,3 @@\n-one\n-two\n-three\n+one\n+TWO\n+three\n",
    "signs in other order": "--- f.txt\n+++ f.txt\n@@ -1,3 +1,3 @@\n one\n+TWO\n-two\n three\n",
    "no newline mark": DIFF + "\\ No newline at end of file\n",
}


@pytest.mark.parametrize("parameters", BOTH)
@pytest.mark.parametrize("response", EQUIVALENT.values(), ids=EQUIVALENT)
def test_equivalent_diffs_score_alike(response, parameters):
    verdict = evaluate(response, parameters)
    assert verdict == (1.0, "equivalent to the expected diff")
    assert verdict.strict_score is None


BADLY_WRITTEN = {
    "fenced": f"```diff\n{DIFF}```",
    "too many backticks": f"``````diff\n{DIFF}```",
    "in prose": f"Here you are:\n{DIFF}",
    "no header": DIFF.partition("\n")[2].partition("\n")[2],
    "no numbers": DIFF.replace("@@ -1,3 +1,3 @@", "@@"),
    "no blank": DIFF.replace(" one", "one"),
}


@pytest.mark.parametrize("parameters", BOTH)
@pytest.mark.parametrize("response", BADLY_WRITTEN.values(), ids=BADLY_WRITTEN)
def test_badly_written_diff_counts_but_not_strictly(response, parameters):
    verdict = evaluate(response, parameters)
    assert (verdict.score, verdict.strict_score) == (1.0, 0.0)
    assert evaluate(response, parameters | {"strict": True}).score == 0.0


def test_other_change_gets_half_of_what_agrees():
    verdict = evaluate(DIFF.replace("+TWO", "+too"), BY_DIFF)
    assert verdict.score == pytest.approx(0.25)
    assert "changes other lines than expected" in verdict.details
    assert "50% of the changed lines agree" in verdict.details


def test_right_change_in_another_file_is_not_equivalent():
    verdict = evaluate(DIFF.replace("f.txt", "g.txt"), BY_DIFF)
    assert verdict.score == 0.5
    assert "expected file 'f.txt', got 'g.txt'" in verdict.details


def test_diff_that_does_not_apply_says_so():
    verdict = evaluate(DIFF.replace(" one", " uno"), BY_RESULT)
    assert verdict.score == 0.5
    assert "hunk 1 does not fit the original" in verdict.details


def test_insertion_at_another_place_of_equal_lines_is_equivalent_where_the_original_is_known():
    parameters = {"original": "x\nx\n", "expected_result": "x\nx\nx\n"}
    first = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n+x\n x\n x\n"
    last = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n x\n x\n+x\n"
    assert evaluate(first, parameters).score == evaluate(last, parameters).score == 1.0


def test_missing_file_is_not_equivalent():
    both = {"expected_diff": DIFF + DIFF.replace("f.txt", "g.txt")}
    verdict = evaluate(DIFF, both)
    assert verdict.score == pytest.approx(0.5 * 2 / 3)
    assert "expected changes in 2 files, got 1" in verdict.details


@pytest.mark.parametrize("response", ["", "No.", "--- f.txt\n+++ f.txt\n@@ -1 +1 @@\n one\n"])
def test_nothing_changed_scores_zero(response):
    verdict = evaluate(response, BY_DIFF)
    assert (verdict.score, verdict.found) == (0.0, "missing")


@pytest.mark.parametrize("parameters", [*BOTH, pytest.param(BY_DIFF | BY_RESULT, id="both")])
def test_reference_is_right_in_the_right_format(parameters):
    verdict = evaluate(reference(parameters), parameters | {"strict": True})
    assert (verdict.score, verdict.strict_score) == (1.0, None)
    assert wants(parameters) is AnswerFormat.DIFF


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"expected_result": "x"},
        {"original": "x"},
        {"expected_diff": "no diff"},
        {"original": "x", "expected_result": "x"},
        {"original": "other text", "expected_diff": DIFF},
        BY_DIFF | {"expected": "x"},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate(DIFF, parameters)


@pytest.mark.parametrize("parameters", BOTH)
@given(response=hostile_text)
def test_any_response_gets_a_score(parameters, response):
    verdict = evaluate(response, parameters)
    assert 0.0 <= verdict.score <= 1.0
    assert verdict.strict_score is None or verdict.strict_score <= verdict.score

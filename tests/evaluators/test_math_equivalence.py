from __future__ import annotations

import importlib.util

import pytest
from pydantic import ValidationError

from evaluators import math_equivalence
from evaluators.math_equivalence import evaluate
from poor_bench.sandbox import Limits, Program, run_cases


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("0.5", r"\frac12"),
        ("1/2", "0.5"),
        ("50%", "1/2"),
        (r"\boxed{\frac{2}{4}}", "0.5"),
        ("x = 5", "5"),
        ("The answer is 3.", "3"),
        ("x+1", "x + 1"),
    ],
)
def test_numbers_and_equal_expressions_need_no_algebra(response, expected, monkeypatch):
    monkeypatch.setattr(math_equivalence, "run_cases", None)
    assert evaluate(response, {"expected": expected}).score == 1.0


@pytest.mark.slow(reason="loads sympy in the sandbox")
@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("(x+1)^2", "x^2 + 2x + 1"),
        (r"The answer is $\frac{\sqrt{2}}{2}$.", r"1/\sqrt{2}"),
        (r"\gamma x", r"x\gamma"),
        ("sin(x)^2 + cos(x)^2", "1"),
        (r"e^{i\pi}", "-1"),
        (r"2\sqrt{3}", r"\sqrt{12}"),
    ],
)
def test_equivalent_expressions_are_right(response, expected):
    verdict = evaluate(response, {"expected": expected})
    assert verdict.score == 1.0, verdict.details


@pytest.mark.slow(reason="loads sympy in the sandbox")
@pytest.mark.parametrize(("response", "expected"), [("x+2", "x+1"), ("0.33", "1/3")])
def test_other_expressions_are_wrong(response, expected):
    verdict = evaluate(response, {"expected": expected})
    assert verdict.score == 0.0
    assert verdict.details.startswith("not equivalent")


@pytest.mark.slow(reason="loads sympy in the sandbox")
def test_endless_expression_is_not_right_and_ends_in_time():
    verdict = evaluate("9**9**9**9**9 + x", {"expected": "x+1", "timeout_s": 1})
    assert verdict.score == 0.0
    assert verdict.details.startswith("equivalence could not be shown")


def test_sympy_that_does_not_load_is_no_fault_of_the_answer(monkeypatch):
    monkeypatch.setattr(math_equivalence, "_SOURCE", "import sympy.is_broken")
    with pytest.raises(RuntimeError, match=r"could not be loaded .*ModuleNotFoundError"):
        evaluate("x+2", {"expected": "x+1"})


@pytest.mark.slow(reason="loads sympy in the sandbox")
def test_sympy_is_loaded_whole_before_the_time_of_a_comparison_begins():
    source = math_equivalence._SOURCE + (
        "import sys\nknown = set(sys.modules)\n"
        "def loaded_late(*texts):\n    same(*texts)\n    return sorted(set(sys.modules) - known)\n"
    )
    program = Program(source=source, function="loaded_late", limits=Limits(case_s=60.0))
    pairs = [["(x+1)**2", "x**2"], ["sin(x)**2 + cos(x)**2", "1"], ["Abs(log(x))", "sqrt(x)"]]
    assert [case.value for case in run_cases(program, pairs).cases] == [[], [], []]


def test_wrapped_expression_counts_but_not_strictly():
    response = r"So we get $\boxed{x^2 - 1}$."
    verdict = evaluate(response, {"expected": "x^2-1"})
    assert (verdict.score, verdict.strict_score, verdict.found) == (1.0, 0.0, "boxed")


@pytest.mark.parametrize("response", ["", "I do not know.", "__import__('os')"])
def test_no_expression_scores_zero(response):
    assert evaluate(response, {"expected": "x+1"}).found == "missing"


def test_missing_package_is_told_with_the_wrong_parameters(monkeypatch):
    monkeypatch.setattr(math_equivalence, "find_spec", lambda name: None)
    assert importlib.util.find_spec("sympy") is not None
    with pytest.raises(ValidationError, match="pip install sympy"):
        evaluate("x", {"expected": "x+1"})
    assert evaluate("1/2", {"expected": "0.5"}).score == 1.0


@pytest.mark.parametrize("parameters", [{}, {"expected": "what is x?"}, {"expected": ""}], ids=str)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(ValidationError):
        evaluate("x", parameters)

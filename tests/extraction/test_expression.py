from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.expression import extract_expression, make_safe_expression
from poor_bench.extraction.found import Found
from tests.extraction.growth import assert_linear
from tests.extraction.strategies import hostile_text

SAFE = {
    "1/2": "1/2",
    r"\frac12": "1/2",
    r"2\sqrt{2}": "2*sqrt(2)",
    r"\sqrt[3]{8}": "((8)**(1/3))",
    r"\frac{\sqrt{2}}{2}": "(sqrt(2))/2",
    r"\frac{-b+\sqrt{b^2-4ac}}{2a}": "(-b+sqrt(b**2-4*a*c))/(2*a)",
    r"y = \frac{2x}{\sqrt{3}}": "(2*x)/(sqrt(3))",
    "2(x+1)(x-1)": "2*(x+1)*(x-1)",
    r"x^{2^{3}}": "x**(2**(3))",
    "x²": "x**2",
    r"\sin^2 x": "sin(x)**2",
    r"\sin x": "sin(x)",
    "π/2": "pi/2",
    r"e^{i\pi}": "E**(I*pi)",
    r"\lambda x": "lamda*x",
    "2 1/2": "(2+1/2)",
    "1,234.5": "1234.5",
    "$x+1$.": "x+1",
    r"6 \div x": "6/x",
}


@pytest.mark.parametrize(("text", "expression"), SAFE.items(), ids=SAFE)
def test_expression_gets_its_safe_notation(text, expression):
    assert make_safe_expression(text) == expression


@pytest.mark.parametrize(
    "text",
    ["", "()", "+", "hello", "__import__('os')", "x.y", "lambda: 0", "a if b else c", "[x]", "3!",
     "sin", "1 2", "x" * 400, "(x", "f'{x}'", "\ud800",
     r"x \ge 3", r"x \in R", r"1 \pm x", r"\infty"],
)  # fmt: skip
def test_anything_else_is_no_expression(text):
    assert make_safe_expression(text) is None


@pytest.mark.parametrize(
    ("text", "expression", "found"),
    [
        ("x + 1", "x+1", Found.BARE),
        ("```\nx+1\n```", "x+1", Found.FENCED),
        (r"Hence $\boxed{x + 1}$, done.", "x+1", Found.BOXED),
        ("The answer is x + 1, because it is so.", "x+1", Found.ANNOUNCED),
        ("We get $y^2$, then $x + 1$ at last.", "x+1", Found.IN_PROSE),
        ("It simplifies:\n2x - x + 1 = x + 1", "x+1", Found.IN_PROSE),
    ],
)
def test_expression_is_found_and_said_how(text, expression, found):
    extracted = extract_expression(text)
    assert (extracted.value, extracted.found) == (expression, found)


FUNCTIONS = [
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log",
    "abs",
]  # fmt: skip
LETTERS = [
    "alpha", "beta", "gamma", "delta", "epsilon", "theta", "lamda", "mu", "rho", "sigma", "tau",
    "phi", "psi", "omega", "pi",
]  # fmt: skip


@given(hostile_text | st.text(alphabet="xyeiπ²0123456789+-*/^(){}\\ .,$=sqrtincog", max_size=40))
def test_result_has_nothing_but_the_safe_notation(text):
    extracted = extract_expression(text)
    if extracted is not None:
        assert re.fullmatch(r"(?:[A-Za-z]|[0-9.]|[-+*/()]|[^\x00-\x7f])+", extracted.value)
        names = re.findall(r"[A-Za-z]{2,}", extracted.value)
        assert set(names) <= {*FUNCTIONS, *LETTERS}


@pytest.mark.parametrize("pattern", ["$x", "answer is ", "\\sqrt{", "{", "\\(", "= ", "("])
def test_time_grows_with_the_length_of_the_text(pattern):
    assert_linear(extract_expression, pattern)

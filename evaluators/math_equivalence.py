r"""Compares mathematical expressions by meaning: `1/2`, `0.5` and `\frac12` are the same.

Numbers are compared exactly. SymPy compares other expressions in the sandbox, with limits on time
and memory. An answer scores 0 if its equivalence is not shown within these limits. If the answer is
an equation, its right-hand side counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poor_bench.extraction.answer_number import extract_number
from poor_bench.extraction.expression import extract_expression, make_safe_expression
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.number import Number, parse_number
from poor_bench.extraction.thinking import without_thinking
from poor_bench.sandbox import CaseEnd, Limits, LoadEnd, Program, run_cases
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_SOURCE = """
import sympy
from sympy.parsing.sympy_parser import parse_expr, rationalize, standard_transformations

TRANSFORMATIONS = (*standard_transformations, rationalize)
LETTERS = "abcdfghjklmnopqrstuvwxyzABCDFGHJKLMNOPQRSTUVWXYZ"
GREEK = "alpha beta gamma delta epsilon theta lamda mu rho sigma tau phi psi omega"
NAMES = {name: sympy.Symbol(name) for name in [*LETTERS, *GREEK.split()]}


def same(one, other):
    ours, theirs = (
        parse_expr(text, local_dict=dict(NAMES), transformations=TRANSFORMATIONS)
        for text in (one, other)
    )
    difference = ours - theirs
    return bool(difference.equals(0)) or sympy.simplify(difference) == 0


same("sin(x)**2 + cos(x)**2", "sqrt(2)*exp(x)/3")  # SymPy loads a part of itself only now
"""
_IMPORT_S = 60.0
"""SymPy loads in half a second, but in ten times that where its byte code is not kept."""
_HINT = "comparing expressions requires the package sympy: pip install sympy"


class Parameters(BaseModel):
    """Parameters of `math_equivalence`."""

    model_config = ConfigDict(extra="forbid")

    expected: str = Field(description="The correct expression, plain or LaTeX.")
    timeout_s: float = Field(
        default=5.0, gt=0, le=60, description="Time limit of the comparison, in seconds."
    )
    strict: bool = Field(default=False, description="Accept only the expression, no other text.")

    @model_validator(mode="after")
    def _can_be_compared(self) -> Self:
        if parse_number(self.expected) is None:
            if make_safe_expression(self.expected) is None:
                raise ValueError(f"{self.expected!r:.80} cannot be read as an expression")
            if find_spec("sympy") is None:
                raise ValueError(_HINT)
        return self


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the expressions are equivalent, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    answer = without_thinking(response)
    number = parse_number(wanted.expected)
    if number is not None:
        extracted_number = extract_number(answer)
        if extracted_number is not None and _is_right(extracted_number.value, number):
            return _build_verdict(wanted, extracted_number, f"{extracted_number.value.value:f}", "")
    extracted = extract_expression(answer)
    if extracted is None:
        return Verdict(0.0, "found no expression", found=Found.MISSING, expected=wanted.expected)
    expected = make_safe_expression(wanted.expected) or wanted.expected
    problem = _find_difference(extracted.value, expected, wanted)
    return _build_verdict(wanted, extracted, extracted.value, problem)


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.EXPRESSION


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the right expression."""
    return Parameters.model_validate(parameters).expected


def _is_right(got: Number, expected: Number) -> bool:
    return not set(got.readings).isdisjoint(expected.readings)


def _find_difference(got: str, expected: str, wanted: Parameters) -> str:
    """Explain why two safe expressions are not the same; empty where they are."""
    if got == expected:
        return ""
    if find_spec("sympy") is None:
        return "not the same number"
    limits = Limits(
        case_s=wanted.timeout_s, load_s=_IMPORT_S, total_s=_IMPORT_S + 2 * wanted.timeout_s
    )
    program = Program(source=_SOURCE, function="same", limits=limits)
    outcome = run_cases(program, [[got, expected]])
    if outcome.load.end is not LoadEnd.LOADED:
        # our own code, and no fault of the answer
        error = outcome.load.error
        reason = f"{error.type_name}: {error.message}" if error else outcome.load.end
        raise RuntimeError(f"sympy could not be loaded in the sandbox ({reason})")
    (case,) = outcome.cases
    if case.end is CaseEnd.RETURNED:
        return "" if case.value is True else "not equivalent"
    return f"equivalence could not be shown ({case.end})"


def _build_verdict(
    wanted: Parameters, extracted: Extracted[Any], got: str, problem: str
) -> Verdict:
    return apply_format_rule(
        0.0 if problem else 1.0,
        f"{problem or 'equivalent'}: expected {wanted.expected:.200}, got {got:.200}",
        broken=extracted.found.wrapping,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=wanted.expected,
        got=got,
    )

"""Runs the Python function of the response in a sandbox and compares its results.

Each case has an `input` and an `expected_output`. A list is passed as positional arguments, an
object as keyword arguments, and any other value as one argument. The sandbox receives only the
inputs; the results are compared outside it. Use `input_python` and `expected_python` for values
that JSON cannot represent: they hold Python literals. Instead of cases, `check_source` may define
`check(candidate)`, which raises an exception if the candidate is wrong. The candidate cannot access
the check.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from poor_bench.extraction.code import (
    defines,
    explain_unusable_function,
    extract_code,
    extract_code_blocks,
    find_last_function,
)
from poor_bench.sandbox import (
    CaseEnd,
    CaseOutcome,
    Check,
    CheckEnd,
    Limits,
    LoadEnd,
    Program,
    describe_value,
    run_cases,
    run_check,
)
from poor_bench.sandbox.report import (
    append_output,
    find_cause,
    report_case,
    report_check,
    report_load,
)
from poor_bench.scoring import AnswerFormat, Cause, Verdict
from poor_bench.scoring.same_value import is_same_value
from poor_bench.scoring.verdict import MAX_SHOWN

__all__ = ["Parameters", "evaluate", "extract_code_blocks"]

_LONGEST_RUN_S = 60.0
_CHECK = "check"


class TestCase(BaseModel):
    """One call of the function."""

    model_config = ConfigDict(extra="forbid")

    input: Any = Field(
        default=None, description="Arguments: a list is positional, an object by keyword."
    )
    expected_output: Any = Field(default=None, description="Expected return value.")
    input_python: str | None = Field(
        default=None, description="Arguments as a Python literal; replaces `input`."
    )
    expected_python: str | None = Field(
        default=None, description="Expected return value as a Python literal, such as `{1, 2}`."
    )

    @model_validator(mode="after")
    def _literals_are_readable(self) -> Self:
        for name in ("input_python", "expected_python"):
            if getattr(self, name) is not None:
                _require_literal(name, getattr(self, name))
        for plain, literal in (("input", "input_python"), ("expected_output", "expected_python")):
            if {plain, literal} <= self.model_fields_set and getattr(self, literal) is not None:
                raise ValueError(f"a case has either `{plain}` or `{literal}`, not both")
        if self.expected_python is None and "expected_output" not in self.model_fields_set:
            raise ValueError("a case needs `expected_output` or `expected_python`")
        return self

    @property
    def arguments(self) -> Any:
        """Arguments of the call."""
        return self.input if self.input_python is None else ast.literal_eval(self.input_python)

    @property
    def expected(self) -> Any:
        """Expected return value."""
        if self.expected_python is None:
            return self.expected_output
        return ast.literal_eval(self.expected_python)


class Parameters(BaseModel):
    """Parameters of `python_evaluator`."""

    model_config = ConfigDict(extra="forbid")

    test_cases: list[TestCase] = Field(default_factory=list, description="Calls of the function.")
    function_name: str | None = Field(
        default=None,
        description="Name of the function to call; by default the last public function that is not "
        "`main` or a test.",
    )
    execution_timeout: float = Field(
        default=5.0,
        gt=0,
        le=300,
        description="Time limit in seconds for loading the code and for each case.",
    )
    exact_types: bool = Field(
        default=False, description="Distinguish list from tuple, int from float and bool from int."
    )
    check_source: str | None = Field(
        default=None, description="Python source that defines `check(candidate)`."
    )
    setup_code: str = Field(
        default="",
        description="Python source that runs before the response's code and before the check.",
    )

    @field_validator("check_source")
    @classmethod
    def _check_can_be_called(cls, source: str | None) -> str | None:
        if source is not None:
            if not defines(source, _CHECK):
                raise ValueError(f"does not define `{_CHECK}(candidate)`")
            if reason := explain_unusable_function(source, _CHECK):
                raise ValueError(f"`{_CHECK}(candidate)` {reason}")
        return source

    @field_validator("check_source", "setup_code")
    @classmethod
    def _source_is_python(cls, source: str | None) -> str | None:
        try:
            ast.parse(source or "")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"is not Python: {error}") from error
        return source

    @field_validator("function_name")
    @classmethod
    def _name_is_one(cls, name: str | None) -> str | None:
        if name is not None and (not name.isidentifier() or iskeyword(name)):
            raise ValueError(f"{name!r:.80} cannot be the name of a function")
        return name

    @model_validator(mode="after")
    def _setup_leaves_the_function_to_the_code(self) -> Self:
        if self.function_name is not None and defines(self.setup_code, self.function_name):
            raise ValueError(
                f"setup_code must not define {self.function_name!r}; the response defines it"
            )
        return self

    @property
    def limits(self) -> Limits:
        """Time limits of the code."""
        in_all = self.execution_timeout * (len(self.test_cases) + 1)
        total_s = min(in_all, max(self.execution_timeout, _LONGEST_RUN_S))
        return Limits(case_s=self.execution_timeout, total_s=total_s)


class _Ended(NamedTuple):
    """How the code did."""

    score: float
    details: str
    cause: str = ""


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score the share of passed cases; 0.5 if the test has no cases."""
    wanted = Parameters.model_validate(parameters)
    code = extract_code(response, wanted.function_name)
    if code is None:
        return Verdict(
            0.0, "no Python code found in the response", found="missing", cause=Cause.NO_ANSWER
        )
    program = Program(
        source=code.value,
        function=wanted.function_name or find_last_function(code.value),
        setup=wanted.setup_code,
        limits=wanted.limits,
    )
    if wanted.check_source is not None:
        ended = _score_check(program, wanted.check_source, wanted.setup_code)
    elif wanted.test_cases:
        ended = _score_cases(program, wanted)
    else:
        ended = _Ended(0.5, "the test has no test cases, so the code was not run")
    return Verdict(
        ended.score,
        ended.details,
        found=code.found,
        extracted=code.value[:MAX_SHOWN],
        cause=ended.cause,
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.CODE


def _require_literal(name: str, text: str) -> None:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"{name} is not a Python literal: {text!r:.80}") from error


def _score_cases(program: Program, wanted: Parameters) -> _Ended:
    outcome = run_cases(program, [case.arguments for case in wanted.test_cases])
    if outcome.load.end is not LoadEnd.LOADED:
        _require_setup(wanted)
        failure = report_load(outcome.load, program.function)
        return _Ended(0.0, append_output(failure, outcome.output), find_cause(outcome.load))
    lines, causes, n_passed, output = [], set(), 0, outcome.output
    for number, (case, ended) in enumerate(zip(wanted.test_cases, outcome.cases, strict=True), 1):
        if _passes(ended, case, wanted.exact_types):
            n_passed += 1
            continue
        causes.add(find_cause(ended))
        output = output or ended.output
        lines.append(
            report_case(
                number,
                describe_value(case.arguments),
                ended,
                expected=describe_value(case.expected),
            )
        )
    total = len(wanted.test_cases)
    heading = f"{n_passed} of {total} cases passed"
    cause = next((cause for cause in Cause if cause in causes), "")
    return _Ended(n_passed / total, append_output("\n".join([heading, *lines]), output), cause)


def _require_setup(wanted: Parameters) -> None:
    """Raise ValueError if the test's own setup does not even run alone."""
    if not wanted.setup_code:
        return
    alone = run_cases(Program(source="", setup=wanted.setup_code, limits=wanted.limits), [])
    if alone.load.end not in {LoadEnd.LOADED, LoadEnd.MISSING_FUNCTION}:
        reason = alone.load.error.message if alone.load.error else alone.load.end
        raise ValueError(f"the test's setup_code cannot be run: {reason}")


def _passes(ended: CaseOutcome, case: TestCase, exact_types: bool) -> bool:
    return ended.end is CaseEnd.RETURNED and is_same_value(
        ended.value, case.expected, exact_types=exact_types
    )


def _score_check(program: Program, source: str, setup: str) -> _Ended:
    outcome = run_check(program, Check(source=source, setup=setup))
    if outcome.end is CheckEnd.BROKEN:
        reason = outcome.error.message if outcome.error else outcome.cause
        raise ValueError(f"the test itself cannot be run: {reason}")
    if outcome.end is CheckEnd.NOT_LOADED:
        details = append_output(report_load(outcome.load, program.function), outcome.output)
        return _Ended(0.0, details, find_cause(outcome.load))
    details = append_output(report_check(outcome), outcome.output)
    if outcome.end is CheckEnd.PASSED:
        return _Ended(1.0, details)
    return _Ended(0.0, details, find_cause(outcome))

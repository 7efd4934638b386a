"""Check that the inputs of code tests fit the function they are meant for, without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from poor_bench.extraction.code import extract_code, find_last_function
from poor_bench.lint.subject import Finding, Fix, LintSubject
from poor_bench.models.problem import Severity


def read_signature(arguments: ast.arguments) -> Signature:
    """Build the signature that the parsed arguments of a function describe."""
    positional = [*arguments.posonlyargs, *arguments.args]
    n_required = len(positional) - len(arguments.defaults)
    parameters = [
        _describe_parameter(
            argument,
            Parameter.POSITIONAL_ONLY
            if index < len(arguments.posonlyargs)
            else Parameter.POSITIONAL_OR_KEYWORD,
            is_optional=index >= n_required,
        )
        for index, argument in enumerate(positional)
    ]
    if arguments.vararg:
        parameters.append(_describe_parameter(arguments.vararg, Parameter.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        kind = Parameter.KEYWORD_ONLY
        parameters.append(_describe_parameter(argument, kind, is_optional=default is not None))
    if arguments.kwarg:
        parameters.append(_describe_parameter(arguments.kwarg, Parameter.VAR_KEYWORD))
    return Signature(parameters)


def _describe_parameter(argument: ast.arg, kind: Any, *, is_optional: bool = False) -> Parameter:
    return Parameter(argument.arg, kind, default=None if is_optional else Parameter.empty)


def takes(signature: Signature, value: Any) -> bool:
    """Tell whether a function can be called with an input, as the evaluator would do it."""
    if isinstance(value, Mapping):
        return can_bind(signature, **value)
    return can_bind(signature, *(value if isinstance(value, list) else [value]))


def can_bind(signature: Signature, /, *positional: Any, **named: Any) -> bool:
    """Tell whether a function can be called with these arguments."""
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True


_EVALUATOR = "python_evaluator"
_CASES = ("evaluation_module", "parameters", "test_cases")
_WRAP_HINT = "write [[1, 2, 3]] to pass the list [1, 2, 3] as one argument"
_LIST_WORDS = re.compile(r"\b(lists?|arrays?|sequences?|elements|items)\b", re.IGNORECASE)


def check_cases(subject: LintSubject) -> Iterator[Finding]:
    """Find code tests that any function passes, whatever it does."""
    cases = subject.parameters.get("test_cases", [])
    if subject.spec.name != _EVALUATOR or subject.parameters.get("check_source") is not None:
        return
    if not cases:
        problem = "no test cases: any code scores 0.5"
    elif all(case.get("expected_output") is None and _has_no_literal(case) for case in cases):
        problem = "every case expects None, which a function that does nothing returns"
    else:
        return
    yield subject.finding(
        "nothing-tried",
        _CASES,
        problem,
        hint="add cases with an `expected_output`, or a `check_source`",
        severity=Severity.ERROR if not cases else Severity.WARNING,
    )


def _has_no_literal(case: Mapping[str, Any]) -> bool:
    return case.get("expected_python") in {None, "None"}


def check_inputs(subject: LintSubject) -> Iterator[Finding]:
    """Find inputs that do not fit the reference's signature, or that look spread by mistake.

    A list as input means several arguments; a function that takes one list needs it wrapped.
    """
    cases = subject.parameters.get("test_cases")
    if not isinstance(cases, list) or not all(isinstance(case, Mapping) for case in cases):
        return
    inputs = [_read_input(case) for case in cases]
    function = _find_reference_function(subject)
    if function is not None:
        yield from _check_against(function, inputs, subject)
    elif _look_like_one_list(inputs):
        mentions_list = _LIST_WORDS.search(subject.content) is not None
        yield subject.finding(
            "list-input-spread",
            _CASES,
            "the list inputs have different lengths, so each is probably one list, but is passed "
            "as several arguments",
            hint=_WRAP_HINT,
            fix=_wrap_inputs(subject) if mentions_list else None,
        )


def _read_input(case: Mapping[str, Any]) -> Any:
    literal = case.get("input_python")
    return case.get("input") if literal is None else ast.literal_eval(literal)


def _find_reference_function(subject: LintSubject) -> ast.FunctionDef | None:
    """Find the function of the reference response that the evaluator will call."""
    reference = subject.test.reference_response
    if reference is None:
        return None
    name = subject.parameters.get("function_name")
    code = extract_code(reference, name)
    name = name or (find_last_function(code.value) if code else None)
    try:
        tree = ast.parse("" if code is None else code.value)
    except (SyntaxError, ValueError):
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    named = [function for function in functions if name in {None, function.name}]
    return named[-1] if named else None


def _check_against(
    function: ast.FunctionDef, inputs: Sequence[Any], subject: LintSubject
) -> Iterator[Finding]:
    signature = read_signature(function.args)
    fits = [takes(signature, value) for value in inputs]
    if all(fits):
        return
    is_passed_as_one = all(
        isinstance(value, list) and can_bind(signature, value) for value in inputs
    )
    yield subject.finding(
        "input-does-not-fit",
        (*_CASES, fits.index(False), "input"),
        f"the input does not fit `{function.name}({ast.unparse(function.args)})` of the reference",
        hint=_WRAP_HINT if is_passed_as_one else "give one argument for each parameter",
        severity=Severity.WARNING if is_passed_as_one else Severity.ERROR,
        fix=_wrap_inputs(subject) if is_passed_as_one and not any(fits) else None,
    )


def _look_like_one_list(inputs: Sequence[Any]) -> bool:
    lists = [value for value in inputs if isinstance(value, list)]
    return bool(lists) and len(lists) == len(inputs) and len({len(value) for value in lists}) > 1


def _wrap_inputs(subject: LintSubject) -> Fix | None:
    """Build the fix that passes every input as one list, where the test has them as JSON."""
    own = subject.test.evaluator
    cases = own.parameters.get("test_cases", []) if own is not None else []
    if not cases or not all("input" in case for case in cases):
        return None
    return subject.fix(_CASES, [{**case, "input": [case["input"]]} for case in cases])

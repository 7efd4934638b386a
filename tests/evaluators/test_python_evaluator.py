from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evaluators.python_evaluator import evaluate

SQUARE = "def square(x):\n    return x * x"
CASES = [{"input": 5, "expected_output": 25}, {"input": [2], "expected_output": 4}]


def score(response: str, **parameters: Any) -> tuple[float, str]:
    wanted = {"function_name": "square", "test_cases": CASES, "execution_timeout": 30}
    result, details = evaluate(response, wanted | parameters)
    return result, details


def test_right_code_passes_all_cases() -> None:
    assert score(f"```python\n{SQUARE}\n```") == (1.0, "2 of 2 cases passed")


def test_score_is_the_share_of_passed_cases() -> None:
    result, details = score("def square(x):\n    return 25")
    assert result == 0.5
    assert "case 2, input `[2]`: expected `4`, got `25`" in details


@pytest.mark.slow(reason="waits for limits of real processes")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def square(x)\n    return x", "syntax error in line 1"),
        ("def cube(x):\n    return x", "missing function `square`: the code defines `cube`"),
        ("def square(x):\n    return x / 0", "ZeroDivisionError"),
        ("def square(x):\n    while True: pass", "timed out"),
        ("import os\ndef square(x):\n    os._exit(0)", "the process died"),
        ("import no_such_module\ndef square(x):\n    return 1", "ModuleNotFoundError"),
        ("I would rather not.", "no Python code found"),
    ],
    ids=["syntax", "missing", "exception", "timeout", "died", "module", "prose"],
)
def test_failures_are_told_apart(code: str, words: str) -> None:
    result, details = score(code, execution_timeout=1 if words == "timed out" else 30)
    assert result == 0.0
    assert words in details


@pytest.mark.parametrize(
    ("code", "case"),
    [
        ("def f(a, b):\n    return a - b", {"input": [5, 3], "expected_output": 2}),
        ("def f(a, b):\n    return a - b", {"input": {"b": 3, "a": 5}, "expected_output": 2}),
        ("def f(numbers):\n    return sum(numbers)", {"input": [1, 2, 3], "expected_output": 6}),
        ("def f():\n    return (1, 2)", {"input": [], "expected_output": [1, 2]}),
        ("def f(s):\n    return {c for c in s}", {"input": "ab", "expected_python": "{'a', 'b'}"}),
        ("def f(t):\n    return t", {"input_python": "(1, 2)", "expected_python": "(1, 2)"}),
    ],
    ids=["list", "dict", "one list", "nothing", "set", "tuple"],
)
def test_inputs_become_arguments(code: str, case: dict[str, Any]) -> None:
    assert score(code, function_name="f", test_cases=[case])[0] == 1.0


def test_exact_types_tell_tuples_from_lists() -> None:
    case = {"input": [], "expected_output": [1, 2]}
    code = "def f():\n    return (1, 2)"
    assert score(code, function_name="f", test_cases=[case], exact_types=True)[0] == 0.0


def test_object_that_claims_to_equal_everything_does_not() -> None:
    code = (
        "class Liar:\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def square(x):\n    return Liar()"
    )
    result, details = score(code)
    assert result == 0.0
    assert "object of type Liar" in details


def test_without_cases_the_code_is_not_tried() -> None:
    result, details = score(SQUARE, test_cases=[])
    assert result == 0.5
    assert "no test cases" in details


def test_output_is_kept_where_it_cannot_break_out() -> None:
    _, details = score("def square(x):\n    print('```\\n# heading <img src=x>')\n    return 0")
    assert "````text\n```\n# heading <img src=x>\n````" in details


CHECK = "def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(-2) == 4"


def test_check_source_decides() -> None:
    assert score(SQUARE, test_cases=[], check_source=CHECK) == (1.0, "all checks passed")
    result, details = score("def square(x):\n    return 9", test_cases=[], check_source=CHECK)
    assert result == 0.0
    assert "square(-2) returned 9" in details


@pytest.mark.parametrize(
    "more",
    ["def main():\n    print(square(3))\n\nmain()", "def test_square():\n    assert square(2)"],
)
def test_main_and_own_tests_are_not_what_is_called(more: str) -> None:
    assert score(f"{SQUARE}\n\n{more}", function_name=None)[0] == 1.0


def test_function_without_a_name_may_be_a_lambda() -> None:
    code = "def unused(x):\n    return 0\nsquare = lambda x: x * x"
    assert score(code, function_name=None)[0] == 1.0


def test_broken_check_is_a_failure_of_ours() -> None:
    with pytest.raises(ValueError, match="test itself"):
        score(SQUARE, test_cases=[], check_source=f"import nothing_of_the_kind\n{CHECK}")


@pytest.mark.parametrize("setup", ["1 / 0", "import nothing_of_the_kind"])
def test_broken_setup_is_a_failure_of_ours(setup: str) -> None:
    with pytest.raises(ValueError, match="setup_code cannot be run"):
        score(SQUARE, setup_code=setup)


def test_code_that_breaks_after_a_sound_setup_is_the_candidates() -> None:
    assert score(f"{SQUARE}\n1 / 0", setup_code="import math")[0] == 0.0


def test_setup_code_is_there_for_code_and_check() -> None:
    setup = "import math\nBASE = 2"
    code = "def f(x):\n    return math.sqrt(x) * BASE"
    check = "def check(candidate):\n    assert candidate(9) == 3 * BASE"
    given = {"function_name": "f", "test_cases": [], "setup_code": setup, "check_source": check}
    assert score(code, **given)[0] == 1.0


@pytest.mark.parametrize(
    "case", [{"input": 1}, {"input_python": "open('x')", "expected_output": 1}], ids=str
)
def test_case_that_cannot_be_tried_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"expected_output|not a Python literal"):
        score(SQUARE, test_cases=[case])


@pytest.mark.parametrize("literal", ["open('x')", "[" * 500, "{[]}", "1 +", "\0", "9" * 5000])
def test_literal_that_is_none_is_refused(literal: str) -> None:
    with pytest.raises(ValidationError, match="not a Python literal"):
        score(SQUARE, test_cases=[{"input_python": literal, "expected_output": 1}])


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"check_source": "def check(candidate:"}, "is not Python"),
        ({"check_source": "assert square(3) == 9"}, "does not define"),
        ({"setup_code": "import"}, "is not Python"),
        ({"function_name": "square()"}, "cannot be the name"),
        ({"function_name": "class"}, "cannot be the name"),
        ({"check_source": "async def check(candidate): assert 0"}, "must not be async"),
        ({"check_source": "def check(candidate):\n    yield candidate(1)"}, "a generator"),
        ({"check_source": "def check():\n    assert 0"}, "one argument"),
        ({"setup_code": SQUARE}, "setup_code must not define 'square'"),
        ({"test_cases": [{"input": 1, "input_python": "2", "expected_output": 1}]}, "not both"),
    ],
    ids=str,
)
def test_code_of_a_test_that_cannot_work_is_refused(
    parameters: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValidationError, match=reason):
        score(SQUARE, **parameters)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.extraction.code import defines, explain_unusable_function, extract_code
from poor_bench.extraction.found import Found

FUNCTION = "def add(a, b):\n    return a + b"


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (FUNCTION, Found.BARE),
        (f"```python\n{FUNCTION}\n```", Found.FENCED),
        (f"~~~\n{FUNCTION}\n~~~", Found.FENCED),
        (
            f"1. Like this:\n   ```py\n   {FUNCTION.replace(chr(10), chr(10) + '   ')}\n   ```",
            Found.FENCED,
        ),
        (f"Sure, here it is.\n\n{FUNCTION}\n\nThis adds two numbers.", Found.IN_PROSE),
        (f"<think>def wrong(): pass</think>\n{FUNCTION}", Found.BARE),
        (f"```python\n{FUNCTION}", Found.FENCED),
        ("    " + FUNCTION.replace("\n", "\n    "), Found.BARE),
    ],
    ids=["bare", "fenced", "tildes", "indented", "prose", "thinking", "unclosed", "all indented"],
)
def test_code_is_found_wherever_it_stands(response: str, found: Found) -> None:
    code = extract_code(response, "add")
    assert code is not None
    assert (code.value.strip(), code.found) == (FUNCTION, found)


def test_largest_block_that_defines_the_function_is_taken() -> None:
    example = (
        "```python\nprint(add(1, 2))\nprint(add(3, 4))\nprint(add(5, 6))\nprint(add(7, 8))\n```"
    )
    short = "```python\ndef add(a, b): ...\n```"
    code = extract_code(f"{short}\n```python\n{FUNCTION}\n```\nUse it:\n{example}", "add")
    assert code is not None
    assert code.value == FUNCTION


def test_of_equal_blocks_the_last_is_taken() -> None:
    wrong = FUNCTION.replace("+", "-")
    code = extract_code(f"```\n{wrong}\n```\nNo, it is:\n```\n{FUNCTION}\n```", "add")
    assert code is not None
    assert code.value == FUNCTION


def test_blocks_that_the_function_needs_are_taken_as_well() -> None:
    parts = [
        "import math",
        "def half(x):\n    return rest(x)",
        "rest = lambda x: math.floor(x / 2)",
    ]
    function = "def add(a, b):\n    total = a + b\n    return half(total)"
    use = "print(add(1, 2))"
    blocks = "\n".join(f"```python\n{part}\n```" for part in [*parts, function, use])
    code = extract_code(blocks, "add")
    assert code is not None
    assert code.value == "\n\n".join([*parts, function])


def test_other_versions_of_the_function_are_left_out() -> None:
    first = "def other(): ...\ndef add(a): ..."
    function = "def add(a, b):\n    # the second of two versions\n    return other() + b"
    code = extract_code(f"```\n{first}\n```\n```\n{function}\n```", "add")
    assert code is not None
    assert code.value == function


def test_a_fence_in_a_docstring_does_not_end_the_code() -> None:
    function = (
        'def add(a, b):\n    """Add.\n\n    ```\n    add(1, 2)\n    ```\n    """\n    return a + b'
    )
    code = extract_code(f"```python\n{function}\n```\nThat is it.", "add")
    assert code is not None
    assert code.value == function


def test_without_a_name_the_largest_block_of_python_is_taken() -> None:
    text = f"```python\n{FUNCTION}\n```\nOutput:\n```text\n{'a long listing ' * 20}\n```"
    code = extract_code(text)
    assert code is not None
    assert code.value == FUNCTION


@pytest.mark.parametrize(
    "response", ["", "I cannot do that.", "The answer is 4.", "<think>def f(): 1"]
)
def test_prose_is_no_code(response: str) -> None:
    assert extract_code(response, "add") is None


def test_imports_before_the_function_belong_to_it() -> None:
    code = extract_code(f"import math\n\n{FUNCTION}\nHope this helps!", "add")
    assert code is not None
    assert code.value == f"import math\n\n{FUNCTION}"


def test_broken_code_is_kept_for_the_evaluator_to_tell() -> None:
    code = extract_code("def add(a, b)\n    return a + b", "add")
    assert code is not None
    assert "return" in code.value


def test_definitions_are_told_from_uses() -> None:
    assert defines("async def add(): ...", "add")
    assert defines("class Sum:\n    def add(self): ...", "add")
    assert defines("add = lambda a, b: a + b", "add")
    assert not defines("print(add(1, 2))", "add")
    assert not defines("def add_all(): ...", "add")


@given(st.text(max_size=300), st.sampled_from([None, "add", "a(b"]))
def test_any_text_is_survived(text: str, name: str | None) -> None:
    code = extract_code(text, name)
    assert code is None or code.value.strip()


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("def check(candidate): assert candidate(1)", ""),
        ("def check(*candidates): ...", ""),
        ("def check(candidate, more=1):\n    def steps():\n        yield 1\n    steps()", ""),
        ("check = print", ""),
        ("async def check(candidate): ...", "async"),
        ("def check(candidate): yield 1", "generator"),
        ("def check(): ...", "one argument"),
        ("def check(candidate, other): ...", "one argument"),
    ],
    ids=str,
)
def test_functions_that_would_check_nothing_are_told(definition: str, reason: str) -> None:
    told = explain_unusable_function(definition, "check")
    assert (told == "") == (reason == "")
    assert reason in told


@pytest.mark.parametrize(
    "code",
    [
        "f = lambda x: x * 2",
        "f: Callable[[int], int] = lambda x: x * 2",
        "from operator import neg as f",
        "import math; f = math.sqrt",
        "twice = 2\nf = lambda x: x * twice",
        "LIMIT = 9\n\ndef f(x):\n    return min(x, LIMIT)",
        "class f:\n    pass",
        "class f(int): ...",
        "async def f(x): return x",
        "@cache\ndef f(x): return x",
        "@functools.lru_cache(maxsize=None)\ndef f(x): return x",
    ],
)
@pytest.mark.parametrize("name", ["f", None])
def test_short_code_without_a_fence_is_code(code: str, name: str | None) -> None:
    for text, found in ((code, Found.BARE), (f"Here it is.\n\n{code}", Found.IN_PROSE)):
        extracted = extract_code(text, name)
        assert extracted is not None
        assert (extracted.value, extracted.found) == (code, found)


@pytest.mark.parametrize(
    "response",
    [
        "x = 5, so the answer is 5.",
        "from the list we take the first",
        "import duties are 4 %",
        "class of 2020",
        "total = 3 + 4 = 7",
        "x = 5",
        "f == 3",
    ],
)
@pytest.mark.parametrize("name", ["f", None])
def test_equations_and_words_of_python_are_no_code(response: str, name: str | None) -> None:
    assert extract_code(response, name) is None


def test_an_equation_before_the_function_is_left_out() -> None:
    code = extract_code(f"x = 5 apples\nSo:\n\n{FUNCTION}", "add")
    assert code is not None
    assert code.value == FUNCTION


def test_many_assignments_without_a_function_are_passed_over_quickly() -> None:
    assert extract_code("x = (\n" * 100_000, "add") is None

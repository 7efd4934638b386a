import pytest

from poor_bench.models.result import Result
from poor_bench.statistics.items import failing_alike


def failing(llm_id: str, **fields) -> Result:
    return Result(**{"llm_id": llm_id, "test_id": "t", "score": 0.0, **fields})


def test_a_common_wrong_answer_is_named() -> None:
    results = [
        failing(llm_id, got=got)
        for llm_id, got in zip("abcd", ["7", " 7", "7\n", "8"], strict=True)
    ]
    alike = failing_alike(results)
    assert (alike.text, alike.is_answer, alike.n_failing) == ("7", True, 4)
    assert alike.llm_ids == ("a", "b", "c")


def test_a_common_message_is_named() -> None:
    alike = failing_alike(failing(llm_id, details="function `add` is missing") for llm_id in "abc")
    assert (alike.text, alike.is_answer) == ("function `add` is missing", False)


def test_tracebacks_of_different_code_are_the_same_message() -> None:
    details = "crashed\nTraceback (most recent call last):\n  line {}"
    assert failing_alike(failing(x, details=details.format(x)) for x in "abc").text == "crashed"


@pytest.mark.parametrize(
    "results",
    [
        pytest.param([], id="nobody-fails"),
        pytest.param([failing(x, got="7") for x in "ab"], id="too-few-llms"),
        pytest.param([failing("a", got="7", trial=n) for n in range(9)], id="trials-of-one-llm"),
        pytest.param([failing(x, got=x) for x in "abcd"], id="different-answers"),
        pytest.param([failing(x) for x in "abcd"], id="nothing-said"),
        pytest.param(
            [failing(x, score=0.5, details="case 3 is wrong") for x in "abcd"], id="edge-case"
        ),
        pytest.param(
            [failing(x, got="7") for x in "abc"] + [failing(x, got=x) for x in "def"], id="half"
        ),
    ],
)
def test_failing_in_several_ways_is_no_pattern(results: list[Result]) -> None:
    assert failing_alike(results) is None

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.issues.responses import find_repeated_tail


@given(st.text(max_size=100), st.text(min_size=1, max_size=40), st.integers(40, 400))
def test_a_piece_repeated_to_the_end_is_found(start: str, unit: str, times: int) -> None:
    text = (start + unit * times).rstrip()
    if unit.strip() and len(text) >= len(unit) * 40 >= 200:
        assert find_repeated_tail(text) is not None


@given(
    st.text(alphabet="ab ", max_size=30), st.text(alphabet="ab ", max_size=70), st.integers(1, 60)
)
def test_all_pieces_are_tried_and_the_shortest_counts(start: str, unit: str, times: int) -> None:
    text = (start + unit * times)[-2000:].rstrip()
    periods = [
        period
        for period in range(1, min(300, len(text) // 5) + 1)
        if (least := max(200, 5 * period)) <= len(text)
        and text[-least:-period] == text[period - least :]
    ]
    tail = find_repeated_tail(text)
    assert [len(tail.unit)] == periods[:1] if tail else not periods


def test_the_shortest_piece_is_named() -> None:
    tail = find_repeated_tail("so " + "ab" * 200)
    assert (tail.unit, tail.times) == ("ab", 200)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=" * 100,
        "no, wait. " * 60 + "It is 4.",
        " ".join(str(number) for number in range(1000)),
        "\n".join(f"| {number} | {number * number} |" for number in range(200)),
    ],
    ids=["empty", "rule", "recovered", "numbers", "table"],
)
def test_text_that_does_not_loop_is_left_alone(text: str) -> None:
    assert find_repeated_tail(text) is None

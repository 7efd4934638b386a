import pytest

from poor_bench.messages import join_names, write_count


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "test", "0 tests"),
        (1, "class", "1 class"),
        (2, "class", "2 classes"),
        (1094, "response", "1,094 responses"),
    ],
)
def test_a_noun_goes_with_its_number(number: int, noun: str, text: str) -> None:
    assert write_count(number, noun) == text


def test_short_lists_are_named_in_full() -> None:
    assert join_names(["a", "b"], limit=2) == "a, b"

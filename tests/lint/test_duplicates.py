from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.lint.duplicates import find_similar_pairs


def shingles(text: str) -> set[str]:
    return {text[start : start + 5] for start in range(len(text) - 4)}


def brute_force(texts: list[str], threshold: float) -> set[tuple[int, int]]:
    pairs = set()
    for (i, first), (j, second) in combinations(enumerate(texts), 2):
        a, b = shingles(first), shingles(second)
        if a and b and len(a & b) / len(a | b) >= threshold:
            pairs.add((i, j))
    return pairs


@given(
    st.lists(st.text("ab", min_size=6, max_size=25), max_size=12),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_the_pairs_are_those_that_comparing_all_would_find(
    texts: list[str], threshold: float
) -> None:
    found = [(first, second) for first, second, _ in find_similar_pairs(texts, threshold)]
    assert set(found) == brute_force(texts, threshold)
    assert len(found) == len(set(found))


def test_the_similarity_is_the_share_of_common_shingles() -> None:
    (pair,) = find_similar_pairs(["abcdefgh", "abcdefgx"], 0.5)
    assert pair == (0, 1, 3 / 5)


def test_texts_too_short_for_a_shingle_are_like_nothing() -> None:
    assert list(find_similar_pairs(["abc", "abc", ""], 0.5)) == []

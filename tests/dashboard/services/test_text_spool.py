from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.services.text_spool import TextSpool

TEXTS = st.text(alphabet="abß\0\n ", max_size=6)


def spool_of(texts: list[str]) -> TextSpool:
    spool = TextSpool()
    for key, text in enumerate(texts):
        spool.add_all([key], [text])
    return spool


@given(st.lists(TEXTS, max_size=8), st.text(alphabet="AbSß\n ", min_size=1, max_size=3))
def test_exactly_the_texts_that_hold_the_words_are_found(texts: list[str], words: str) -> None:
    expected = [
        key
        for key, text in enumerate(texts)
        if words.casefold() in text.replace("\0", " ").casefold()
    ]
    assert spool_of(texts).keys_with(words).tolist() == expected


def test_nothing_is_found_across_two_texts() -> None:
    assert spool_of(["ab", "cd"]).keys_with("bc").tolist() == []


def test_an_empty_spool_holds_nothing() -> None:
    assert spool_of([]).keys_with("a").tolist() == []


def test_texts_are_found_while_more_are_added() -> None:
    spool = spool_of(["one"] * 2500)
    assert len(spool.keys_with("ONE")) == 2500
    spool.add_all([7, 9], ["another\none\ud800", "two"])
    assert spool.keys_with("another\none").tolist() == [7]


def test_texts_can_be_written_before_they_are_searched() -> None:
    spool = spool_of(["one", "two"])
    assert [spool.write_some() for _ in range(3)] == [True, True, False]
    assert spool.keys_with("two").tolist() == [1]
